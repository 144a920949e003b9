// The process of browsers, started with as little as it needs: no secret, no file but the program, and another user
// where the platform may choose one. Its library in C decodes the packets of strangers over OpenSSL 1.1.1w, which gets
// no more fixes.
import { fork, type ChildProcess, type ForkOptions } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface ProcessUser {
  readonly uid: number
  readonly gid: number
}

const root = new URL('../../../', import.meta.url)
const program = ['src/', 'node_modules/', 'package.json']

/**
 * Returns the options of the process. The permission model of Node.js binds its JavaScript: no other file, no process,
 * no thread. Only another user binds its native code too.
 */
export function confinement(user: ProcessUser | undefined): ForkOptions & { readonly execArgv: string[] } {
  const paths = program.map((name) => fileURLToPath(new URL(name, root)))
  const readable = new Set(paths.flatMap((path) => [path, realpathSync(path)]))
  const execArgv = [
    '--permission',
    // The library is one; Node.js warns of each.
    '--allow-addons',
    '--disable-warning=SecurityWarning',
    ...[...readable].map((path) => `--allow-fs-read=${path}`),
  ]
  return { env: {}, execArgv, stdio: ['ignore', 'pipe', 'pipe', 'ipc'], ...user }
}

/** Throws the error of the system, for example if the platform may not start a process of this user. */
export function createConfinedProcess(user: ProcessUser | undefined): ChildProcess {
  return fork(new URL('./browser-process.ts', import.meta.url), confinement(user))
}
