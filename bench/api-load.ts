// Load on the REST interface from another core, and its cost for the server: CPU of the main thread per request.
import { join } from 'node:path'
import { adminApiKey } from '../test/support/platform-process.ts'
import { ToolProcess } from '../test/support/processes.ts'
import { mainThreadCpuMs, processCpuMs } from './proc.ts'

export const serverCore = 0
const loadCore = 1
const connections = 64

export interface Work {
  readonly what: string
  readonly path: string
  readonly maxMs: number
  readonly token?: string
  readonly body?: string
  readonly connections?: number
  /** A path to GET after each request with a body. */
  readonly then?: string
}

export interface Load {
  readonly completed: number
  readonly refused: number
  readonly perSecond: number
  readonly mainMs: number
  readonly allMs: number
}

export async function load(pid: number, port: number, work: Work, seconds: number): Promise<Load> {
  const before = { main: mainThreadCpuMs(pid), all: processCpuMs(pid) }
  const { path, token = adminApiKey, body, then } = work
  const args = [String(port), path, token, String(seconds), String(work.connections ?? connections), '1']
  const more = [body, then].filter((argument) => argument !== undefined)
  const generator = pinned('http-load.ts', [...args, ...more], loadCore)
  const { code } = await generator.exited
  if (code !== 0) throw new Error(`the load generator ended with ${code}: ${generator.output}`)
  const after = { main: mainThreadCpuMs(pid), all: processCpuMs(pid) }
  const { completed, refused, elapsedMs } = JSON.parse(generator.stdout) as {
    completed: number
    refused: number
    elapsedMs: number
  }
  return {
    completed,
    refused,
    perSecond: completed / (elapsedMs / 1000),
    mainMs: (after.main - before.main) / completed,
    allMs: (after.all - before.all) / completed,
  }
}

export function pinned(script: string, args: readonly string[], core: number): ToolProcess {
  const command = [String(core), process.execPath, join(import.meta.dirname, script), ...args]
  return new ToolProcess({ command: 'taskset', args: ['-c', ...command] })
}
