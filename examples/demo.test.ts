// The demo as a newcomer runs it: a child process, judged by its output and by what it leaves behind.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminApiKey, codeCache, sharedPlatform, type Platform } from '../test/support/platform-process.ts'
import { freePorts } from '../test/support/ports.ts'
import { ToolProcess } from '../test/support/processes.ts'
import { isMissing } from '../test/support/tools.ts'
import { whisperUrl } from '../test/support/whisper-server.ts'
import { until } from '../test/support/wait.ts'

const runs: ToolProcess[] = []

function demo(args: readonly string[], env: Readonly<Record<string, string>> = {}): ToolProcess {
  const run = new ToolProcess({
    command: process.execPath,
    args: [join(import.meta.dirname, 'demo.ts'), ...args],
    env: { ...codeCache(), ...env },
  })
  runs.push(run)
  return run
}

// A demo that stays up would outlast a test that has failed.
afterAll(() => runs.forEach((run) => run.signal('SIGKILL')))

/** The lines of the call, without their times. */
const conversationIn = (output: string): string[] =>
  output
    .slice(output.indexOf('\nThe call\n'), output.indexOf('\nIts journal'))
    .split('\n')
    .flatMap((line) => /^ +[\d.]+ s {2}(\w+) +(.*)$/.exec(line)?.slice(1).join(': ') ?? [])
    .map((line) => line.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<sid>'))

const conversation = [
  'phone: dials sip:app-<sid>@demo.switchhook.test',
  'platform: asks who is calling; the phone proves its password',
  'server: POST /call: a call from demo-caller to app-<sid>; answers say, play, gather',
  'platform: answers the call',
  'platform: says "Hello from Switchhook."',
  'platform: plays a tone',
  'platform: says "Please enter up to four digits, and then the pound key."',
  'phone: presses 4 2 #',
  'server: POST /digits: digits 42; answers say, hangup',
  'platform: says "You pressed 4 2."',
  'platform: hangs up',
]

/** The lines of the picture in the README, which has the first eight digits of each id. */
function picturedConversation(): readonly string[] {
  const picture = readFileSync(join(import.meta.dirname, '../docs/demo.svg'), 'utf8')
  return [...picture.matchAll(/<text [^>]*>(.*)<\/text>/g)].flatMap(([, drawn = '']) => {
    const line = drawn.replaceAll(/<[^>]*>/g, '').replaceAll(/[0-9a-f]{8}…/g, '<sid>')
    return /^ *[\d.]+ s {2}(\w+) +(.*)$/.exec(line)?.slice(1).join(': ') ?? []
  })
}

describe('the picture in the README', () => {
  it('shows the conversation that the demo prints', () => {
    expect(picturedConversation()).toEqual(conversation)
  })
})

// These run concurrently, each in its own folder: a call of the demo takes five seconds, most of which is speech.
describe.concurrent('npm run demo without a platform', () => {
  const folders: string[] = []
  const openFolder = async (): Promise<string> => {
    const temporary = await mkdtemp(join(tmpdir(), 'demo-test-'))
    folders.push(temporary)
    return temporary
  }
  afterAll(() => Promise.all(folders.map((temporary) => rm(temporary, { recursive: true, force: true }))))

  it('prints the conversation, its journal and no address that is gone, and leaves nothing behind', async () => {
    const temporary = await openFolder()
    const run = demo(['--no-keep'], { TMPDIR: temporary })
    expect([(await run.exited).code, run.stderr]).toEqual([0, ''])
    expect(conversationIn(run.stdout)).toEqual(conversation)
    const story = run.stdout.slice(run.stdout.indexOf('\nIts journal'))
    for (const part of [
      'SIP: received INVITE',
      'SIP: sent 200 OK',
      'keys 4 2 #',
      'gather: done',
      'RTP: PCMU',
    ])
      expect(story).toContain(part)
    expect(story).toMatch(/\d s {2}status completed \(SIP 200\)/)
    const further = story.slice(story.indexOf('\nLook further'))
    expect(further).toContain('npm run demo -- --keep')
    expect(further).not.toMatch(/https?:|curl/)
    expect(await readdir(temporary)).toEqual([])
  })

  it('keeps its platform up at the addresses that it prints, until it is interrupted', async () => {
    const temporary = await openFolder()
    const run = demo(['--keep'], { TMPDIR: temporary })
    await run.lines.next('the last line', (line) => line.includes('until Ctrl-C'))
    const commands = [...run.stdout.matchAll(/curl -H "Authorization: (Bearer \w+)" "([^"]+)"/g)]
    expect(commands).toHaveLength(2)
    for (const [, authorization = '', url = ''] of commands)
      expect((await fetch(url, { headers: { authorization } })).status).toBe(200)
    const docs = /(http:\S+\/docs)/.exec(run.stdout)?.[1] ?? ''
    expect((await fetch(docs)).status).toBe(200)
    run.signal('SIGINT')
    expect((await run.exited).code).toBe(0)
    await expect(fetch(docs)).rejects.toThrow()
    expect(await readdir(temporary)).toEqual([])
  })
})

describe('npm run demo -- --listen', () => {
  it.skipIf(isMissing('whisper'))(
    'has the answer of a voice recognised, and shows what was heard',
    async () => {
      const run = demo(['--listen', '--no-keep', '--recognizer', await whisperUrl()])
      expect([(await run.exited).code, run.stderr]).toEqual([0, ''])
      expect(conversationIn(run.stdout)).toEqual([
        ...conversation.slice(0, 2),
        expect.stringMatching(/^server: POST \/call: .* answers say, play, gather$/),
        ...conversation.slice(3, 6),
        'platform: says "What can I do for you?"',
        'phone: says "I would like to book a table for two."',
        expect.stringMatching(/^server: POST \/words: heard ".*table.*"; answers say, hangup$/),
        expect.stringMatching(/^platform: says "You said: .*table.*"$/),
        'platform: hangs up',
      ])
      expect(run.stdout).toMatch(/Its journal[^]* s {2}the caller said: ".*table/)
    },
  )

  it('says what is missing without a recogniser, and how to get one', async () => {
    const port = await freePorts(1)
    const run = demo(['--listen', '--no-keep', '--recognizer', `http://127.0.0.1:${port}/v1`])
    expect((await run.exited).code).toBe(1)
    expect([run.stdout, run.stderr]).toEqual([
      '',
      expect.stringContaining('docs/guides/without-a-cloud.md installs one'),
    ])
  })
})

describe('npm run demo, killed', () => {
  it.each(['--keep', '--browser'])('leaves no platform behind (%s)', async (option) => {
    const temporary = await mkdtemp(join(tmpdir(), 'demo-test-'))
    const run = demo([option], { TMPDIR: temporary })
    await run.lines.next('the last line', (line) => line.includes('Ctrl-C'))
    const pid = Number(execFileSync('pgrep', ['-P', String(run.pid)], { encoding: 'utf8' }))
    expect(pid).toBeGreaterThan(0)
    run.signal('SIGKILL')
    await run.exited
    await until('the platform to end', async () => {
      try {
        return !process.kill(pid, 0)
      } catch {
        return true
      }
    })
    await rm(temporary, { recursive: true, force: true })
  })
})

describe('npm run demo beside a platform', () => {
  let platform: Platform
  beforeAll(async () => {
    platform = await sharedPlatform()
  })

  const beside = (args: readonly string[] = []): ToolProcess =>
    demo(args, {
      SWITCHHOOK_ADMIN_API_KEY: adminApiKey,
      SWITCHHOOK_HTTP_PORT: String(platform.httpPort),
      SWITCHHOOK_SIP_PORT: String(platform.sip.port),
    })

  async function setUp(): Promise<unknown[]> {
    const paths = ['/Accounts', '/Applications', '/Clients']
    return Promise.all(paths.map((path) => platform.api.must<unknown[]>('GET', path)))
  }

  it('calls through it, shows no key, and leaves things as they were when run again', async () => {
    const first = beside()
    expect([(await first.exited).code, first.stderr]).toEqual([0, ''])
    expect(conversationIn(first.stdout)).toEqual(conversation)
    expect(first.stdout).not.toContain(adminApiKey)
    const before = await setUp()
    const second = beside()
    expect([(await second.exited).code, second.stderr]).toEqual([0, ''])
    expect(await setUp()).toEqual(before)
  })

  it('says that it was refused, why, and fails', async () => {
    const run = beside(['--api-key', 'wrong-key-0123456789'])
    expect((await run.exited).code).toBe(1)
    expect(run.stderr).toContain('does not take this API key')
  })

  it('prints the same settings for a softphone each time', async () => {
    const settings: string[] = []
    for (const _ of [1, 2]) {
      const run = beside(['--phone', '--port', '0'])
      await run.lines.next('the application', (line) => line.startsWith('The application listens'))
      settings.push(run.stdout.slice(0, run.stdout.indexOf('Afterwards')))
      run.signal('SIGINT')
      expect((await run.exited).code).toBe(0)
    }
    expect(settings[0]).toMatch(/user name {7}demo-[0-9a-f]{4}\n {2}password {8}\S{20}\n/)
    expect(settings[1]).toBe(settings[0])
    // The platform of this test listens on the loopback.
    expect(settings[0]).toContain('only for phones on this machine')
  })
})
