// A real browser for one page: Chromium without a window, driven over its DevTools protocol.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolProcess } from '../support/processes.ts'
import { within } from '../support/wait.ts'

export interface Browser {
  /** Loads the page in a window of this size. */
  open(
    url: string,
    view: { readonly width: number; readonly height: number; readonly isDark?: boolean },
  ): Promise<void>
  /** Returns the page as PNG. */
  screenshot(): Promise<Buffer>
  /** Returns the value of an expression in the page; a promise is awaited. */
  evaluate<T>(expression: string): Promise<T>
  /** The errors and refusals of the page, as the console shows them. */
  readonly problems: readonly string[]
  /** Kills the browser, which closes nothing first. */
  kill(): Promise<void>
  close(): Promise<void>
}

const maxAnswerMs = 45_000

interface Reply {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly entry?: { readonly text: string }; readonly sessionId?: string }
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly message: string }
}

/** Starts the browser. `args` are added to those that every test needs. */
export async function startChromium(args: readonly string[] = []): Promise<Browser> {
  const folder = await mkdtemp(join(tmpdir(), 'browser-'))
  const child = new ToolProcess({
    command: 'chromium',
    // Its own sandbox needs rights that a container does not give; it only opens the pages of this test.
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      `--user-data-dir=${folder}`,
      '--remote-debugging-port=0',
      ...args,
      'about:blank',
    ],
    cwd: folder,
    env: { HOME: folder },
  })
  const line = await child.lines.next('the browser', (text) => text.startsWith('DevTools listening on '))
  const socket = new WebSocket(line.slice('DevTools listening on '.length))
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('error', () => reject(new Error('the browser takes no connection')))
  })
  const waiting = new Map<number, (reply: Reply) => void>()
  const problems: string[] = []
  let onLoad: () => void = () => undefined
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply)
    if (reply.method === 'Log.entryAdded') problems.push(reply.params?.entry?.text ?? '')
    if (reply.method === 'Page.loadEventFired') onLoad()
  })
  let last = 0
  let sessionId: string | undefined
  const ask = async (method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> => {
    const id = ++last
    const answer = new Promise<Reply>((resolve) => waiting.set(id, resolve))
    socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }))
    const { result, error } = await within(`${method} of the browser`, maxAnswerMs, answer)
    if (result === undefined) throw new Error(`${method}: ${error?.message}`)
    return result
  }
  const { targetId } = await ask('Target.createTarget', { url: 'about:blank' })
  sessionId = String((await ask('Target.attachToTarget', { targetId, flatten: true }))['sessionId'])
  await ask('Page.enable')
  await ask('Log.enable')
  return {
    problems,
    async open(url, { isDark = false, ...size }) {
      await ask('Emulation.setEmulatedMedia', {
        features: [{ name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light' }],
      })
      await ask('Emulation.setDeviceMetricsOverride', {
        ...size,
        deviceScaleFactor: 1,
        mobile: size.width < 600,
      })
      const loaded = new Promise<void>((resolve) => (onLoad = resolve))
      await ask('Page.navigate', { url })
      await within(`${url} to load`, maxAnswerMs, loaded)
    },
    async evaluate<T>(expression: string) {
      const { result, exceptionDetails } = await ask('Runtime.evaluate', {
        expression,
        awaitPromise: true,
        returnByValue: true,
      })
      if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails))
      return (result as { value: T }).value
    },
    async screenshot() {
      const { data } = await ask('Page.captureScreenshot')
      return Buffer.from(String(data), 'base64')
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
