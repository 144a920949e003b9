// Firefox without a window for one page, driven over WebDriver BiDi, which it speaks itself.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from '../docs/chromium.ts'
import { ToolProcess } from './processes.ts'
import { within } from './wait.ts'

const maxAnswerMs = 45_000
const listening = 'WebDriver BiDi listening on '

interface Reply {
  readonly id?: number
  readonly type?: string
  readonly method?: string
  readonly params?: { readonly text?: string | null }
  readonly result?: Readonly<Record<string, unknown>>
  readonly message?: string
}

/** Starts the browser. Its microphone has a tone of `saysHz`, and it believes the development certificate. */
export async function startFirefox(saysHz: number): Promise<Omit<Browser, 'screenshot'>> {
  const folder = await mkdtemp(join(tmpdir(), 'firefox-'))
  const preferences = {
    'media.navigator.streams.fake': true,
    'media.navigator.permission.disabled': true,
    'media.navigator.audio.fake_frequency': saysHz,
    'media.autoplay.default': 0,
  }
  const lines = Object.entries(preferences).map(([name, value]) => `user_pref("${name}", ${value});`)
  await writeFile(join(folder, 'user.js'), lines.join('\n'))
  const child = new ToolProcess({
    command: 'firefox-esr',
    args: ['--headless', '--no-remote', '--profile', folder, '--remote-debugging-port', '0', 'about:blank'],
    cwd: folder,
    env: { HOME: folder },
  })
  const line = await child.lines.next('the browser', (text) => text.includes(listening))
  const socket = new WebSocket(`${line.slice(line.indexOf(listening) + listening.length).trim()}/session`)
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('error', () => reject(new Error('the browser takes no connection')))
  })
  const waiting = new Map<number, (reply: Reply) => void>()
  const problems: string[] = []
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply)
    if (reply.method === 'log.entryAdded') problems.push(reply.params?.text ?? '')
  })
  let last = 0
  const ask = async (method: string, params: object): Promise<Readonly<Record<string, unknown>>> => {
    const id = ++last
    const answer = new Promise<Reply>((resolve) => waiting.set(id, resolve))
    socket.send(JSON.stringify({ id, method, params }))
    const { result, message } = await within(`${method} of the browser`, maxAnswerMs, answer)
    if (result === undefined) throw new Error(`${method}: ${message}`)
    return result
  }
  await ask('session.new', { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } })
  await ask('session.subscribe', { events: ['log.entryAdded'] })
  const tree = (await ask('browsingContext.getTree', {})) as { contexts: { context: string }[] }
  const context = tree.contexts[0]?.context
  return {
    problems,
    async open(url) {
      await ask('browsingContext.navigate', { context, url, wait: 'complete' })
    },
    async evaluate<T>(expression: string) {
      const wrapped = `(async () => JSON.stringify(await (0, eval)(${JSON.stringify(expression)})))()`
      const { result, exceptionDetails } = await ask('script.evaluate', {
        expression: wrapped,
        awaitPromise: true,
        target: { context },
      })
      if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails))
      const { value } = result as { value?: string }
      return (value === undefined ? undefined : JSON.parse(value)) as T
    },
    async kill() {
      await child.stop('SIGKILL')
    },
    async close() {
      socket.close()
      await child.stop('SIGTERM')
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
