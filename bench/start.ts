// The time from spawn to healthy on an existing data directory, and the memory of an idle platform.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startPlatform } from '../test/support/platform-process.ts'
import { median, type Figure } from './figure.ts'
import { residentMb } from './proc.ts'

export async function measureStart(): Promise<Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'switchhook-bench-'))
  try {
    const first = await startPlatform({ dataDir })
    await first.stop('SIGINT')
    const starts: number[] = []
    const sizes: number[] = []
    for (let round = 0; round < 5; round += 1) {
      const platform = await startPlatform({ dataDir })
      starts.push(platform.startMs)
      await delay(2000)
      sizes.push(residentMb(platform.pid))
      await platform.stop('SIGINT')
    }
    const startMs = median(starts)
    const idleMb = median(sizes)
    return [
      {
        what: 'first start to healthy, new data directory',
        target: 'under 2000 ms',
        figure: `${first.startMs.toFixed(0)} ms`,
        isMet: first.startMs < 2000,
      },
      {
        what: 'start to healthy, existing data directory',
        target: 'under 1000 ms',
        figure: `${startMs.toFixed(0)} ms`,
        isMet: startMs < 1000,
      },
      {
        what: 'idle resident memory',
        target: 'under 150 MB',
        figure: `${idleMb.toFixed(0)} MB`,
        isMet: idleMb < 150,
      },
    ]
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}
