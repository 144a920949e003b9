// One bash for a whole guide, as a reader has one terminal: variables, functions and background servers remain.
import { spawn, type ChildProcess } from 'node:child_process'
import { within } from '../support/wait.ts'

export interface Printed {
  readonly output: string
  readonly status: number
}

const maxRunMs = 60_000
const mark = '@@ended@@'

export class Shell {
  readonly #child: ChildProcess
  readonly #exited: Promise<void>
  #output = ''
  #onOutput: () => void = () => undefined

  constructor(cwd: string, env: Readonly<Record<string, string>>) {
    // The shell has its own process group, so that its background processes end with it.
    this.#child = spawn('bash', ['--noprofile', '--norc'], {
      cwd,
      detached: true,
      env: { PATH: process.env['PATH'] ?? '', HOME: cwd, LC_ALL: 'C.UTF-8', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#exited = new Promise((resolve) => this.#child.once('close', () => resolve()))
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text
      this.#onOutput()
    })
    this.#child.stdin?.write('exec 2>&1\nset -o pipefail\n')
  }

  /** Returns the output of the script, errors included, and the status of its last command. */
  async run(script: string): Promise<Printed> {
    this.#output = ''
    const ended = new Promise<Printed>((resolve, reject) => {
      this.#onOutput = () => {
        const end = new RegExp(`\\n?${mark}(\\d+)\\n`).exec(this.#output)
        if (end !== null) resolve({ output: this.#output.slice(0, end.index), status: Number(end[1]) })
      }
      void this.#exited.then(() => reject(new Error(`the shell ended\n${this.#output}`)))
    })
    this.#child.stdin?.write(`${script}\nprintf '\\n${mark}%s\\n' "$?"\n`)
    return within(`the end of\n${script}`, maxRunMs, ended)
  }

  async close(): Promise<void> {
    const { pid } = this.#child
    if (pid !== undefined && this.#child.exitCode === null) process.kill(-pid, 'SIGKILL')
    await this.#exited
  }
}
