// A runner for a benchmark that prints its own report: a separate process that measures nothing of its neighbours.
import { join } from 'node:path'
import { ToolProcess } from '../test/support/processes.ts'

export async function runScript(name: string, args: readonly string[] = []): Promise<string> {
  const child = new ToolProcess({
    command: process.execPath,
    args: [join(import.meta.dirname, name), ...args],
  })
  const { code } = await child.exited
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${child.stderr}`)
  const report = child.stdout.trim()
  // A report without a table is shown as it was printed.
  return report.includes('| ---') ? report : ['```', report, '```'].join('\n')
}
