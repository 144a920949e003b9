// Child processes of the tests: output captured, exit awaited, ended by their pid and never by name.
import { spawn, type ChildProcess } from 'node:child_process'
import { Inbox, within } from './wait.ts'

export interface ProcessOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string
  /** The whole environment of the child; nothing is inherited beyond PATH. */
  readonly env?: Readonly<Record<string, string>>
  /** Whether it reads the input that `write` sends; otherwise its stdin is closed. */
  readonly hasInput?: boolean
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

const outputLimitBytes = 4 * 1024 * 1024
const living = new Set<ChildProcess>()

// No child outlives a test run that dies.
process.on('exit', () => {
  for (const child of living) killWhole(child)
})

/** Kills a child and its own children, which would keep its output open: Kamailio is a dozen processes. */
function killWhole({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The process has already ended.
  }
}

export class ToolProcess {
  readonly #child: ChildProcess
  readonly exited: Promise<Exit>
  /** The lines of both output streams as they come. */
  readonly lines = new Inbox<string>()
  #stdout = ''
  #stderr = ''

  constructor({ command, args, cwd, env = {}, hasInput = false }: ProcessOptions) {
    this.#child = spawn(command, args, {
      cwd,
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      // The child leads its own process group, so that it can be killed with all processes that it started.
      detached: true,
    })
    const child = this.#child
    living.add(child)
    // The child may exit during a write.
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

  /** Kills it immediately, with all processes that it started. */
  async kill(): Promise<Exit> {
    killWhole(this.#child)
    return await this.exited
  }

  /** Stops it with the signal `name`, and with SIGKILL if it has not exited in time. Idempotent. */
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
