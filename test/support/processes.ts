// Child processes of the tests: output captured, exit awaited, ended by their own pid and never by name.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { Inbox, within } from './wait.ts'

export interface ProcessOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string
  /** The whole environment of the child; nothing is inherited beyond PATH. */
  readonly env?: Readonly<Record<string, string>>
  /** Whether it reads what `write` sends; otherwise its input is at its end. */
  readonly hasInput?: boolean
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

const outputLimitBytes = 4 * 1024 * 1024
const living = new Set<ChildProcess>()

// A test run that dies leaves nothing behind.
process.on('exit', () => {
  for (const child of living) killWhole(child)
})

/** With what it has started, which would hold its output open: Kamailio is a dozen processes. */
function killWhole({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}

export class ToolProcess {
  readonly #child: ChildProcess
  readonly exited: Promise<Exit>
  /** Lines of both streams as they come. */
  readonly lines = new Inbox<string>()
  #stdout = ''
  #stderr = ''

  constructor({ command, args, cwd, env = {}, hasInput = false }: ProcessOptions) {
    this.#child = spawn(command, args, {
      cwd,
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      // The first of a group of its own, so that it can be ended with all that it has started.
      detached: true,
    })
    const child = this.#child
    living.add(child)
    // It may end while it is written to.
    child.stdin?.on('error', () => undefined)
    this.exited = new Promise((resolve, reject) => {
      child.once('error', reject)
      // 'close', not 'exit': everything the child wrote has been read by then.
      child.once('close', (code, signal) => {
        living.delete(child)
        resolve({ code, signal })
      })
    })
    // Awaiting it is up to the caller; a failed spawn must not end the test run before that.
    this.exited.catch(() => living.delete(child))
    this.#capture(child.stdout, (text) => (this.#stdout = (this.#stdout + text).slice(-outputLimitBytes)))
    this.#capture(child.stderr, (text) => (this.#stderr = (this.#stderr + text).slice(-outputLimitBytes)))
  }

  #capture(stream: ChildProcess['stdout'], keep: (text: string) => void): void {
    let rest = ''
    stream?.setEncoding('utf8')
    stream?.on('data', (text: string) => {
      keep(text)
      const parts = (rest + text).split('\n')
      rest = parts.pop() ?? ''
      for (const line of parts) this.lines.push(line)
    })
  }

  get pid(): number {
    const pid = this.#child.pid
    if (pid === undefined) throw new Error('the process did not start')
    return pid
  }

  get stdout(): string {
    return this.#stdout
  }

  get stderr(): string {
    return this.#stderr
  }

  get output(): string {
    return this.#stdout + this.#stderr
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null && this.#child.pid !== undefined
  }

  write(text: string): void {
    this.#child.stdin?.write(text)
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /** Ends it at once, with all that it has started. */
  async kill(): Promise<Exit> {
    killWhole(this.#child)
    return await this.exited
  }

  /** Ends it, with SIGKILL when `name` is not obeyed in time. Idempotent. */
  async stop(name: NodeJS.Signals = 'SIGTERM', timeoutMs = 5_000): Promise<Exit> {
    if (this.isRunning) this.signal(name)
    try {
      return await within(`process ${this.#child.pid} to end`, timeoutMs, this.exited)
    } catch {
      killWhole(this.#child)
      return await this.exited
    }
  }
}
