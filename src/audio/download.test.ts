import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { serveLocally } from '../../test/support/local-http.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createOutgoing } from '../outgoing/create-outgoing.ts'
import { ArrivingFile } from './arriving-file.ts'
import { download } from './download.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

it('is over only once the disk has taken what was on its way there, so that nothing opens the file afterwards', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'switchhook-download-'))
  closing.push(() => rm(directory, { recursive: true, force: true }))
  const server = await serveLocally((_request, response) =>
    response.write(Buffer.from('ID3'.padEnd(4000, 'x'))),
  )
  closing.push(() => server.close())
  const outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger })
  closing.push(() => outgoing.close())
  const [arrived, disk] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  class SlowFile extends ArrivingFile {
    override async write(chunk: Buffer): Promise<void> {
      arrived.resolve()
      await disk.promise
      await super.write(chunk)
    }
  }
  // Without room in memory, each file goes to the disk.
  const file = new SlowFile(join(directory, 'part'), { freeBytes: 0 })
  const stop = new AbortController()
  const limits = { maxFileBytes: 100_000, answerTimeoutMs: 10_000, totalTimeoutMs: 10_000 }
  const { whole, head } = download({
    ...{ outgoing, clock: systemClock, url: server.url, userAgent: 'test', file, stop, ...limits },
    count: () => undefined,
  })
  head.catch(() => undefined)
  const steps: string[] = []
  const over = whole.catch(() => steps.push('over'))
  await arrived.promise
  stop.abort(new Error('hung up'))
  // A request of its own shows that the stopped one has ended.
  await outgoing.request({
    ...{ url: server.url, method: 'GET', subject: 'it', answerBody: 'discard', maxBodyBytes: 0 },
    ...{ answerTimeoutMs: 10_000, totalTimeoutMs: 10_000 },
  })
  steps.push('disk')
  disk.resolve()
  await over
  expect(steps).toEqual(['disk', 'over'])
  expect(await readdir(directory)).toEqual(['part'])
  await file.close()
})
