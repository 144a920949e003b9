// The data of a platform that was set up with the secrets of the tests: made once in a run (global-setup.ts) and copied
// into each new data directory, unless first boot is tested. Making tables, hashes and keys takes a tenth of a start.
import { copyFile, mkdir, readdir } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/log.ts'
import type { FirstBootOptions } from '../../src/storage/first-boot.ts'

const files = ['switchhook.db', 'secret.key']

type Secrets = Omit<FirstBootOptions, 'show'>

/** Makes the data at the first start that needs them, and imports the storage only then. */
export async function makeSetUpData(dataDir: string, secrets: Secrets): Promise<void> {
  const { createStorage } = await import('../../src/storage/create-storage.ts')
  const { firstBoot } = await import('../../src/storage/first-boot.ts')
  await mkdir(dataDir, { mode: 0o700 })
  const storage = createStorage({ dataDir, clock: systemClock, log: silentLogger })
  await storage.start()
  try {
    await firstBoot(storage, { ...secrets, show: async () => undefined })
  } finally {
    await storage.stop()
  }
}

let asked: Promise<string> | undefined

async function askDesk(path: string): Promise<string> {
  const answer = JSON.parse(await text(createConnection(path))) as string | { readonly error: string }
  if (typeof answer !== 'string') throw new Error(answer.error)
  return answer
}

/** Copies the data. Does nothing if there are data already, or outside of a test run. */
export async function setUpData(dataDir: string): Promise<void> {
  const desk = process.env['SWITCHHOOK_TEST_DATA_DESK']
  if (desk === undefined) return
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  if ((await readdir(dataDir)).length > 0) return
  asked ??= askDesk(desk)
  const source = await asked
  for (const file of files) await copyFile(join(source, file), join(dataDir, file))
}
