// Recordings with the real recorder thread, a real directory and a real database. The bucket is an HTTP stand-in
// where that matters, and otherwise a function.
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { DatabaseSync } from 'node:sqlite'
import { buffer } from 'node:stream/consumers'
import { Worker as Thread, type Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts'
import { mountVolume } from '../../test/support/small-volume.ts'
import { copyMigratedFile } from '../../test/support/store-places.ts'
import { until } from '../../test/support/wait.ts'
import type { Alert } from '../contracts/alert.ts'
import type { Hook } from '../contracts/hook.ts'
import type { RecordingOrder, RunningRecording } from '../contracts/recording.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { AppError } from '../lib/errors.ts'
import { createSid } from '../lib/ids.ts'
import { silentLogger } from '../lib/log.ts'
import { RecordingRing } from '../media/recording/recording-ring.ts'
import { createStorage } from '../storage/create-storage.ts'
import type { Storage } from '../storage/storage.ts'
import { createRecordings } from './create-recordings.ts'
import { finishInThread } from './finish-thread.ts'
import type { PutRecording, RecordingObject, Recordings, RecordingsOptions } from './recordings.ts'
import { lostAfterMs } from './lost-recordings.ts'
import { maxRemovals } from './remove-expired.ts'
import { maxAgeMs } from './store-recordings.ts'

const account_sid = createSid()
const hook: Hook = { url: 'http://app.test/status', method: 'POST', username: null, password: null }
const attempted_at = Date.parse('2026-11-21T08:30:00Z')
const megabyte = 1_000_000

let dataDir: string
let clock: FakeClock
let storage: Storage
let recordings: Recordings
let credential: object | null
let puts: { readonly key: string; readonly bytes: Buffer; readonly contentType: string }[]
let discarded: string[]
let refusal: Error | undefined
let alerts: Alert[]
let thread: Worker | undefined

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'switchhook-recordings-'))
  clock = createFakeClock(attempted_at)
  await copyMigratedFile(dataDir)
  storage = createStorage({ dataDir, clock, log: silentLogger })
  await storage.start()
  credential = { vendor: 'aws_s3' }
  puts = []
  discarded = []
  refusal = undefined
  alerts = []
  recordings = await open()
})
afterEach(async () => {
  await recordings.stop()
  await storage.stop()
  await rm(dataDir, { recursive: true, force: true })
})

async function put({ key, contentType, file, signal }: PutRecording): Promise<void> {
  signal.throwIfAborted()
  if (refusal !== undefined) throw refusal
  puts.push({ key, contentType, bytes: Buffer.from(file.bytes ?? (await readFile(file.path))) })
}

async function discard({ key, credential: used }: RecordingObject): Promise<void> {
  if (refusal !== undefined) throw refusal
  expect(used).toBe(credential)
  discarded.push(key)
}

async function open(options: Partial<RecordingsOptions> = {}): Promise<Recordings> {
  const made = createRecordings({
    dataDir,
    store: storage.recordings,
    calls: storage.calls,
    isShared: () => false,
    bucketOf: async () => credential,
    put,
    discard,
    alerts: { raise: (alert) => void alerts.push(alert) },
    limits: { spoolBytes: 100 * megabyte, accountBytes: 100 * megabyte, days: 30 },
    clock,
    log: silentLogger,
    createWorker(room) {
      thread = new Thread(new URL('./recorder-worker.ts', import.meta.url), { workerData: { room } })
      return thread
    },
    ...options,
  })
  await made.start()
  return made
}

interface Call {
  readonly call_sid: string
  readonly running: RunningRecording
  readonly ended: string[]
  readonly gaps: number[]
}

/** Begins a recording as the engine does. */
async function begin(
  format: 'wav' | 'mp3' = 'wav',
  of = recordings,
  place: Partial<RecordingOrder> = {},
): Promise<Call> {
  const call_sid = createSid()
  const ended: string[] = []
  const gaps: number[] = []
  const running = await of.begin(
    { call_sid, account_sid, format, attempted_at, ...place },
    { ended: (reason) => void ended.push(reason), gap: (ms) => void gaps.push(ms) },
  )
  const { key, spool } = running
  const notice = { hook, payload: { call_sid, recording_url: '/url' } }
  const begun = { change: 'begun', key, spool, format, at: clock.now(), notice } as const
  write(call_sid, [begun])
  await storage.calls.flush()
  return { call_sid, running, ended, gaps }
}

function write(call_sid: string, changes: Parameters<Storage['calls']['write']>[0]['recordings'] & {}): void {
  storage.calls.write({ call_sid, account_sid, events: [], notifications: [], recordings: changes }, 'now')
}

/** Ends a recording as the engine does, and advances to the time at which it is stored. */
async function end({ call_sid, running }: Call, reason?: string): Promise<void> {
  const ended = await running.end()
  write(call_sid, [{ change: 'ended', at: clock.now(), ...ended, reason: reason ?? ended.reason }])
  await storage.calls.flush()
  clock.advance(1200)
}

/** Writes frames with these values on both sides. */
function say({ running }: Call, frames: number, left = 1000, right = -500): void {
  const ring = new RecordingRing(running.ring.memory)
  for (let index = 0; index < frames; index += 1) {
    ring.putSamples('in', new Int16Array(160).fill(left))
    ring.putSamples('out', new Int16Array(160).fill(right))
    ring.next()
  }
}

/** Returns whether all frames were read, except the last ones, which late packets may still fill. */
const hasTaken = ({ running }: Call): boolean => new RecordingRing(running.ring.memory).waiting(false) <= 0

const stateOf = async ({ call_sid }: Call) => (await storage.recordings.find(call_sid))?.state
const settled = (call: Call, state: string) =>
  until(`it is ${state}`, async () => (await stateOf(call)) === state)
const samplesOf = (bytes: Buffer) => new Int16Array(Uint8Array.from(bytes.subarray(44)).buffer)
const notified = async () =>
  (await storage.outbox.claim(50, 1)).map(({ payload }) => JSON.parse(payload) as Record<string, unknown>)
/** Runs a statement past the storage. */
async function query(sql: string): Promise<void> {
  const file = new DatabaseSync(join(dataDir, 'switchhook.db'))
  try {
    file.exec(sql)
  } finally {
    file.close()
  }
}
const spooled = () => readdir(join(dataDir, 'recordings/spool'))

describe('a recording for which the system has no thread left', () => {
  it('is refused and takes nothing of the share of its account', async () => {
    await recordings.stop()
    let isFull = true
    recordings = await open({
      limits: { spoolBytes: 10 * megabyte, accountBytes: 10 * megabyte, days: 30 },
      createWorker(room) {
        if (isFull) throw new Error('ERR_WORKER_INIT_FAILED: EAGAIN')
        return new Thread(new URL('./recorder-worker.ts', import.meta.url), { workerData: { room } })
      },
    })
    await expect(begin()).rejects.toThrow('EAGAIN')
    isFull = false
    clock.advance(600_000)
    await end(await begin())
  })
})

describe('a recording', () => {
  it('is put into the bucket as a WAV file with both sides, and its hook hears of it once', async () => {
    const call = await begin()
    say(call, 100)
    await end(call)
    await settled(call, 'stored')
    expect(puts.map(({ key, contentType }) => [key, contentType])).toEqual([
      [`2026/11/21/${call.call_sid}.wav`, 'audio/wav'],
    ])
    const [{ bytes }] = puts as [(typeof puts)[0]]
    expect(bytes.length).toBe(44 + 100 * 640)
    expect(bytes.readUInt32LE(40)).toBe(100 * 640)
    const samples = samplesOf(bytes)
    expect(samples.every((sample, index) => sample === (index % 2 === 0 ? 1000 : -500))).toBe(true)
    await until('nothing is spooled', async () => (await spooled()).length === 0)
    expect(await notified()).toEqual([
      {
        call_sid: call.call_sid,
        recording_url: '/url',
        event: 'recording',
        recording_status: 'stored',
        recording_format: 'wav',
        recording_duration: 2,
        recording_bytes: 44 + 100 * 640,
      },
    ])
  })

  it('is not treated as left by a dead process while the database has not taken its end yet', async () => {
    let isGone = true
    const { calls } = storage
    await recordings.stop()
    recordings = await open({
      calls: {
        write: (changes, when) => calls.write(changes, when),
        flush: () => (isGone ? Promise.reject(new Error('gone')) : calls.flush()),
      },
    })
    const call = await begin()
    say(call, 10)
    const ended = await call.running.end()
    for (let looks = 0; looks < 3; looks += 1) {
      clock.advance(6000)
      await setTimeout(50)
    }
    expect(await stateOf(call)).toBe('recording')
    write(call.call_sid, [{ change: 'ended', at: clock.now(), ...ended, reason: ended.reason }])
    isGone = false
    await storage.calls.flush()
    clock.advance(6000)
    await settled(call, 'stored')
  })

  it('asks a database that is away once a second for the ends of all recordings that are over', async () => {
    let flushes = 0
    await recordings.stop()
    recordings = await open({
      calls: {
        write: (changes, when) => storage.calls.write(changes, when),
        flush() {
          flushes += 1
          return Promise.reject(new Error('gone'))
        },
      },
    })
    for (let count = 0; count < 5; count += 1) {
      await (await begin()).running.end()
      clock.advance(10)
    }
    const before = flushes
    for (let second = 0; second < 4; second += 1) {
      clock.advance(1100)
      await new Promise(setImmediate)
    }
    expect(flushes - before).toBeGreaterThan(1)
    expect(flushes - before).toBeLessThanOrEqual(8)
  })

  it('of a dead process gets one event of its end, however often that is written before the database takes it', async () => {
    const call = await begin()
    say(call, 10)
    await recordings.stop()
    await query('alter table call_journal rename to call_journal_away')
    recordings = await open()
    for (let looks = 0; looks < 4; looks += 1) {
      clock.advance(6000)
      await setTimeout(50)
    }
    await query('alter table call_journal_away rename to call_journal')
    await until('its end', async () => {
      clock.advance(6000)
      return (await stateOf(call)) === 'stored'
    })
    const journal = (await storage.journal.read(systemTenancy, account_sid, call.call_sid)) ?? []
    const types = journal.map(({ type }) => type)
    expect(types).toEqual(['recording-ended', 'recording-stored'])
  })

  it('is put into the bucket once, and its hook hears of it once, where the database takes the report late', async () => {
    const call = await begin()
    say(call, 10)
    await end(call)
    await query('alter table call_journal rename to call_journal_away')
    await until('its upload', () => puts.length > 0)
    for (let looks = 0; looks < 4; looks += 1) {
      clock.advance(20_000)
      await setTimeout(50)
    }
    await query('alter table call_journal_away rename to call_journal')
    await until('it is stored', async () => {
      clock.advance(6000)
      return (await stateOf(call)) === 'stored'
    })
    await until('nothing is spooled', async () => {
      clock.advance(6000)
      return (await spooled()).length === 0
    })
    expect(puts).toHaveLength(1)
    expect(await notified()).toHaveLength(1)
    expect(alerts).toEqual([])
  })

  it('is put where the application has placed it', async () => {
    const call = await begin('wav', recordings, { prefix: 'weekly/team-' })
    say(call, 10)
    await end(call)
    await settled(call, 'stored')
    expect(puts.map(({ key }) => key)).toEqual([`weekly/team-${call.call_sid}.wav`])
  })

  it('is put there as MP3 where the account wants that, an eighth as long', async () => {
    const call = await begin('mp3')
    for (let second = 0; second < 4; second += 1) {
      say(call, 50)
      await until('the recorder has them', () => hasTaken(call))
    }
    await end(call)
    await settled(call, 'stored')
    const [{ bytes, contentType }] = puts as [(typeof puts)[0]]
    expect(contentType).toBe('audio/mp3')
    // The sync word of an MPEG 2.5 frame.
    expect(bytes.readUInt16BE(0) & 0xfff0).toBe(0xffe0)
    expect(bytes.length).toBeGreaterThan(14_000)
    expect(bytes.length).toBeLessThan(20_000)
    await until('nothing is spooled', async () => (await spooled()).length === 0)
  })

  it('is silent while it is masked, and goes on where it was', async () => {
    const call = await begin()
    // The recorder reads them later: its thread is still starting.
    say(call, 10)
    call.running.mask(true)
    say(call, 10)
    call.running.mask(false)
    say(call, 10)
    await end(call)
    await settled(call, 'stored')
    const samples = samplesOf(puts[0]!.bytes)
    expect(samples.length).toBe(30 * 320)
    const loud = Array.from({ length: 30 }, (_, frame) => samples[frame * 320] === 1000)
    expect(loud).toEqual(loud.map((_, frame) => frame < 10 || frame >= 20))
  })

  it('of a call that is over before its first frame is stored nowhere, and the hook hears why', async () => {
    const call = await begin()
    await end(call)
    await settled(call, 'failed')
    expect(puts).toEqual([])
    expect(await notified()).toMatchObject([
      { event: 'recording', recording_status: 'failed', recording_reason: 'nothing was said or heard' },
    ])
    expect(alerts).toEqual([])
  })

  it('that falls behind is silent where frames were lost, and says how much', async () => {
    const call = await begin()
    say(call, 230)
    await until('the gap', () => call.gaps.length > 0)
    await end(call)
    await settled(call, 'stored')
    expect(call.gaps.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(0)
    expect(samplesOf(puts[0]!.bytes).length).toBe(230 * 320)
  })
})

describe('on the disk, without a bucket', () => {
  it('is kept, read in parts, and removed after its time', async () => {
    credential = null
    const call = await begin()
    say(call, 50)
    await end(call)
    await settled(call, 'stored')
    const found = await recordings.find(account_sid, call.call_sid)
    expect(found).toMatchObject({ place: 'disk', bytes: 44 + 50 * 640 })
    expect(await recordings.find(createSid(), call.call_sid)).toBeUndefined()
    const part = await recordings.read(found!, 'bytes=40-43')
    expect([part.bytes, part.range]).toEqual([4, `bytes 40-43/${44 + 50 * 640}`])
    expect((await buffer(part.body)).readUInt32LE(0)).toBe(50 * 640)
    const tail = await recordings.read(found!, 'bytes=-10')
    expect((await buffer(tail.body)).length).toBe(10)
    await expect(recordings.read(found!, 'bytes=99999999-')).rejects.toMatchObject({
      code: 'range_not_satisfiable',
      contentRange: `bytes */${44 + 50 * 640}`,
    })
    clock.advance(31 * 86_400_000)
    await until('it is removed', async () => {
      clock.advance(3_600_000)
      return (await recordings.find(account_sid, call.call_sid)) === undefined
    })
    expect(await readdir(join(dataDir, 'recordings/kept', account_sid, '2026/11/21'))).toEqual([])
  })

  it('is removed after its time although the file of an older one cannot be removed', async () => {
    credential = null
    const calls: Call[] = []
    for (let count = 0; count < 2; count += 1) {
      const call = await begin()
      say(call, 50)
      await end(call)
      await settled(call, 'stored')
      calls.push(call)
    }
    const [first, second] = calls as [Call, Call]
    const { key } = (await recordings.find(account_sid, first.call_sid))!
    const path = join(dataDir, 'recordings/kept', account_sid, key)
    await rm(path)
    await mkdir(path)
    clock.advance(31 * 86_400_000)
    await until('the other one is removed', async () => {
      clock.advance(3_600_000)
      return (await recordings.find(account_sid, second.call_sid)) === undefined
    })
    expect(await recordings.find(account_sid, first.call_sid)).toBeDefined()
  })

  it('is not begun when the account has no room left, and the account hears of it', async () => {
    await recordings.stop()
    recordings = await open({ limits: { spoolBytes: 100 * megabyte, accountBytes: 40_000, days: 30 } })
    credential = null
    const call = await begin()
    say(call, 50)
    await end(call)
    await settled(call, 'stored')
    await expect(begin()).rejects.toMatchObject({ code: 'recording_refused' })
    credential = { vendor: 'aws_s3' }
    await expect(begin()).resolves.toBeDefined()
  })

  it('of another node is not found here, and the answer says where', async () => {
    credential = null
    const call = await begin()
    say(call, 50)
    await end(call)
    await settled(call, 'stored')
    const found = await recordings.find(account_sid, call.call_sid)
    await expect(recordings.read({ ...found!, spool: createSid() }, undefined)).rejects.toMatchObject({
      code: 'not_found',
      message: 'the recording is on the disk of another node',
    })
  })
})

describe('a bucket that fails', () => {
  it('for hours gets it all the same, with one alert', async () => {
    refusal = new AppError('bucket_failed', 'aws_s3 refused the connection')
    const call = await begin()
    say(call, 20)
    await end(call)
    await until(
      'the first attempt',
      async () => (await storage.recordings.find(call.call_sid))?.attempts === 1,
    )
    expect(await storage.recordings.find(call.call_sid)).toMatchObject({
      reason: 'aws_s3 refused the connection',
    })
    for (let attempts = 2; attempts < 12; attempts += 1) {
      clock.advance(900_000)
      await until(
        'another attempt',
        async () => (await storage.recordings.find(call.call_sid))?.attempts === attempts,
      )
    }
    refusal = undefined
    clock.advance(900_000)
    await settled(call, 'stored')
    expect(puts).toHaveLength(1)
    expect(alerts).toMatchObject([{ alert_type: 'recording-failure', account_sid, call_sid: call.call_sid }])
    expect(await notified()).toHaveLength(1)
  })

  it('for three days loses it, and the hook and the account hear of it', async () => {
    refusal = new AppError('bucket_failed', 'aws_s3 refused the connection')
    const call = await begin()
    say(call, 20)
    await end(call)
    await until(
      'the first attempt',
      async () => (await storage.recordings.find(call.call_sid))?.attempts === 1,
    )
    clock.advance(maxAgeMs)
    await settled(call, 'failed')
    expect(alerts.map(({ message }) => message)).toEqual([
      'a recording could not be stored yet: aws_s3 refused the connection',
      'a recording is lost: aws_s3 refused the connection',
    ])
    expect(await notified()).toMatchObject([{ recording_status: 'failed' }])
    await until('nothing is spooled', async () => (await spooled()).length === 0)
  })

  it('of a node that never comes back is lost after three days, once, and the hook and the account hear of it', async () => {
    refusal = new AppError('bucket_failed', 'aws_s3 refused the connection')
    const call = await begin()
    say(call, 20)
    await end(call)
    await recordings.stop()
    const otherDir = await mkdtemp(join(tmpdir(), 'switchhook-other-node-'))
    const others = await Promise.all([open({ dataDir: otherDir }), open({ dataDir: otherDir })])
    try {
      clock.advance(lostAfterMs - 3_600_000)
      await until('nodes look every hour', async () => {
        expect((await storage.recordings.find(call.call_sid))?.state).toMatch(/waiting|failed/)
        clock.advance(3_600_000)
        return (await storage.recordings.find(call.call_sid))?.state === 'failed'
      })
      const reason = 'the node that has its file did not come back'
      expect(await notified()).toMatchObject([{ recording_status: 'failed', recording_reason: reason }])
      expect(alerts.at(-1)).toMatchObject({
        call_sid: call.call_sid,
        message: `a recording is lost: ${reason}`,
      })
    } finally {
      for (const other of others) await other.stop()
      await rm(otherDir, { recursive: true, force: true })
    }
    // The node comes back: the report is not repeated, and the file is removed.
    recordings = await open()
    expect(await spooled()).toEqual([])
    expect(await notified()).toEqual([])
  })

  it('for its credential gets it as soon as the account has another one', async () => {
    refusal = new AppError('bucket_failed', 'aws_s3 refused the credential (status 403)')
    const call = await begin()
    say(call, 20)
    await end(call)
    for (let attempts = 1; attempts < 9; attempts += 1) {
      await until(
        'an attempt',
        async () => (await storage.recordings.find(call.call_sid))?.attempts === attempts,
      )
      if (attempts < 8) clock.advance(900_000)
    }
    refusal = undefined
    credential = { vendor: 'aws_s3', secret: 'renewed' }
    // Less than the wait before the next attempt.
    clock.advance(6000)
    await settled(call, 'stored')
  })

  it('for its credential gets no recording a second time that is on its way when the account has another one', async () => {
    await recordings.stop()
    const slow = Promise.withResolvers<void>()
    const finished: string[] = []
    let slowKey: string | undefined
    recordings = await open({
      finish: (audio, signal) => {
        finished.push(audio.path)
        return finishInThread(audio, signal)
      },
      put: async (object) => {
        if (object.key === slowKey) await slow.promise
        await put(object)
      },
    })
    refusal = new AppError('bucket_failed', 'aws_s3 refused the credential (status 403)')
    const refused = await begin()
    say(refused, 2)
    await end(refused)
    await until('the refusal', async () => (await storage.recordings.find(refused.call_sid))?.attempts === 1)
    const sent = await begin()
    slowKey = sent.running.key
    say(sent, 2)
    await end(sent)
    const isSent = (path: string) => path.includes(sent.call_sid)
    await until('it is on its way', () => finished.some(isSent))
    refusal = undefined
    credential = { vendor: 'aws_s3', secret: 'renewed' }
    clock.advance(6000)
    await settled(refused, 'stored')
    // Its turn comes after that of the one on its way.
    const later = await begin()
    say(later, 2)
    await end(later)
    clock.advance(6000)
    await settled(later, 'stored')
    slow.resolve()
    await settled(sent, 'stored')
    expect(finished.filter(isSent)).toHaveLength(1)
  })

  it('holds up no recording of another account', async () => {
    const other = createSid()
    await recordings.stop()
    const stuck = Promise.withResolvers<void>()
    recordings = await open({
      put: async (object) => {
        if (object.account_sid === account_sid) await stuck.promise
        else await put(object)
      },
    })
    for (let index = 0; index < 6; index += 1) {
      const call = await begin()
      say(call, 2)
      await end(call)
    }
    const call_sid = createSid()
    const running = await recordings.begin(
      { call_sid, account_sid: other, format: 'wav', attempted_at },
      { ended: () => undefined, gap: () => undefined },
    )
    const call = { call_sid, running, ended: [], gaps: [] }
    const { key, spool } = running
    const batch = { call_sid, account_sid: other, events: [], notifications: [] }
    const begun = { change: 'begun', key, spool, format: 'wav', at: clock.now(), notice: undefined } as const
    storage.calls.write({ ...batch, recordings: [begun] }, 'now')
    say(call, 2)
    await end(call)
    await settled(call, 'stored')
    stuck.resolve()
  })
})

describe('a disk', () => {
  it('that has no more room ends the recording with a reason; the part written is stored', async () => {
    await recordings.stop()
    recordings = await open({ limits: { spoolBytes: 100_000, accountBytes: megabyte, days: 30 } })
    const call = await begin()
    say(call, 200)
    await until('its end', () => call.ended.length > 0)
    expect(call.ended).toEqual(['the disk space for recordings is used up'])
    await end(call)
    await settled(call, 'stored')
    const bytes = puts[0]?.bytes.length ?? 0
    expect(bytes).toBeGreaterThan(80_000)
    expect(bytes).toBeLessThanOrEqual(100_044)
    expect(await notified()).toMatchObject([
      { recording_status: 'stored', recording_reason: 'the disk space for recordings is used up' },
    ])
    // Its space is available to others once its file is gone.
    await until('another one begins', () =>
      begin().then(
        () => true,
        () => false,
      ),
    )
  })

  it('is not filled by one account: beyond its share its recordings end or are not begun, and those of others are', async () => {
    await recordings.stop()
    refusal = new Error('the bucket is away')
    recordings = await open({
      limits: { spoolBytes: 400_000, accountBytes: megabyte, days: 30 },
      sharePercent: 50,
    })
    const share = 'the recordings of the account that wait to be stored take its share of the disk space'
    const [older, newer] = [await begin(), await begin()]
    // Two recordings of five seconds take 320 kB, which leaves 80 kB. An account alone may take as much as it leaves
    // free.
    clock.advance(5000)
    await until('the newer one is ended', () => newer.ended.length > 0)
    expect([older.ended, newer.ended]).toEqual([[], [share]])
    await end(newer)
    const ended = await older.running.end()
    write(older.call_sid, [{ change: 'ended', at: clock.now(), ...ended, bytes: 400_000 }])
    await storage.calls.flush()
    await expect(begin()).rejects.toMatchObject({ code: 'recording_refused', message: share })
    const order = { call_sid: createSid(), account_sid: createSid(), format: 'wav', attempted_at } as const
    const others = recordings.begin(order, { ended: () => undefined, gap: () => undefined })
    await expect(others).resolves.toBeDefined()
  })

  it('that is really full ends the recording with a reason; the part written is stored as MP3, and space becomes free', async (context) => {
    await recordings.stop()
    const volume = join(dataDir, 'recordings')
    const mounted = mountVolume(volume, '512k')
    if (typeof mounted === 'string') {
      recordings = await open()
      return context.skip(mounted)
    }
    try {
      recordings = await open()
      const call = await begin('mp3')
      for (let second = 0; second < 20 && call.ended.length === 0; second += 1) {
        say(call, 50)
        await until('the recorder has them', () => hasTaken(call) || call.ended.length > 0)
      }
      await until('its end', () => call.ended.length > 0)
      const full = 'the disk is full except for the space that the platform itself needs'
      expect(call.ended).toEqual([full])
      // A tenth of it, which is now used too.
      await writeFile(join(volume, 'more'), Buffer.alloc(50_000))
      await expect(writeFile(join(volume, 'more'), Buffer.alloc(100_000))).rejects.toMatchObject({
        code: 'ENOSPC',
      })
      await end(call)
      await settled(call, 'stored')
      expect(puts[0]?.bytes.length).toBeGreaterThan(50_000)
      expect(await notified()).toContainEqual(
        expect.objectContaining({
          recording_status: 'stored',
          recording_format: 'mp3',
          recording_reason: full,
        }),
      )
      await until('nothing is spooled', async () => (await spooled()).length === 0)
      const next = await begin()
      say(next, 10)
      await end(next)
      await settled(next, 'stored')
      const all = Buffer.alloc(1_000_000)
      await expect(writeFile(join(volume, 'more'), all)).rejects.toMatchObject({ code: 'ENOSPC' })
      const refused = await begin()
      await until('its end', () => refused.ended.length > 0)
      expect(refused.ended).toEqual([expect.stringMatching(/^the disk is full/)])
      await end(refused)
    } finally {
      await recordings.stop()
      mounted.unmount()
    }
  })

  it('that cannot be written ends the recording with a reason', async () => {
    const call_sid = createSid()
    await mkdir(join(dataDir, 'recordings/spool', `${call_sid}.wav`))
    const ended: string[] = []
    const running = await recordings.begin(
      { call_sid, account_sid, format: 'wav', attempted_at },
      { ended: (reason) => void ended.push(reason), gap: () => undefined },
    )
    await until('its end', () => ended.length > 0)
    expect(ended).toEqual(['the disk failed (EISDIR)'])
    await rm(join(dataDir, 'recordings/spool', `${call_sid}.wav`), { recursive: true })
    expect(await running.end()).toMatchObject({ bytes: 0 })
  })
})

describe('a recording whose call record is gone', () => {
  const day = 86_400_000
  async function stored(): Promise<Call> {
    const call = await begin()
    say(call, 10)
    await end(call)
    await settled(call, 'stored')
    await until('nothing is spooled', async () => (await spooled()).length === 0)
    return call
  }
  const expire = () => storage.expired.remove('recordings', clock.now(), 100)
  const isGone = async (call: Call) => (await storage.recordings.find(call.call_sid)) === undefined
  /** Advances time to each look for expired recordings, until the condition holds. */
  const within = (what: string, stepMs: number, holds: () => unknown) =>
    until(what, async () => {
      clock.advance(stepMs)
      return await holds()
    })

  it('is removed from the bucket by the credential that the account has then, and from the disk', async () => {
    const inBucket = await stored()
    credential = null
    const onDisk = await stored()
    credential = { vendor: 'aws_s3', secret: 'another' }
    clock.advance(day)
    await expire()
    await within('both are gone', 60_000, async () => (await isGone(inBucket)) && (await isGone(onDisk)))
    expect(discarded).toEqual([inBucket.running.key])
    expect(await readdir(join(dataDir, 'recordings/kept', account_sid, '2026/11/21'))).toEqual([])
    expect(alerts).toEqual([])
  })

  it('is tried again where its bucket refuses, once for all of the account, and removed as soon as that takes it', async () => {
    const [one, other] = [await stored(), await stored()]
    refusal = new AppError('bucket_failed', 'aws_s3 refused the credential (status 403)')
    clock.advance(day)
    await expire()
    await within('the refusal', 60_000, () => alerts.length > 0)
    expect(alerts).toMatchObject([
      {
        account_sid,
        alert_type: 'recording-failure',
        message: 'expired recordings could not be removed yet: aws_s3 refused the credential (status 403)',
      },
    ])
    for (const { call_sid } of [one, other])
      expect(await storage.recordings.find(call_sid)).toMatchObject({ state: 'expired', attempts: 1 })
    refusal = undefined
    await within('both are gone', 60_000, async () => (await isGone(one)) && (await isGone(other)))
    expect(discarded.toSorted()).toEqual([one.running.key, other.running.key].toSorted())
  })

  it('is left to an account whose bucket refuses for three days, or that has none, with an alert', async () => {
    const call = await stored()
    credential = null
    clock.advance(day)
    await expire()
    await within('the end', 6 * 3_600_000, async () => (await isGone(call)) && alerts.length === 2)
    expect(discarded).toEqual([])
    expect(alerts.map(({ message }) => message)).toEqual([
      'expired recordings could not be removed yet: the account has no bucket any more',
      '1 expired recordings are left where they are: the account has no bucket any more',
    ])
    expect(maxRemovals).toBe(20)
  })
})

describe('two nodes of one database, each with its disk', () => {
  let otherDir: string
  let other: Recordings
  beforeEach(async () => {
    otherDir = await mkdtemp(join(tmpdir(), 'switchhook-recordings-other-'))
    other = await open({ dataDir: otherDir, isShared: () => true })
  })
  afterEach(async () => {
    await other.stop()
    await rm(otherDir, { recursive: true, force: true })
  })

  it('leave the recording of a dead node to its disk: the next process there stores it, and any node finds it then', async () => {
    const call = await begin()
    say(call, 60)
    await until('the recorder has them', () => hasTaken(call))
    await recordings.stop()
    for (let look = 0; look < 20; look += 1) {
      clock.advance(5000)
      other.wake()
      await storage.calls.flush()
    }
    expect(await other.find(account_sid, call.call_sid)).toMatchObject({ state: 'recording' })
    expect([puts, call.ended]).toEqual([[], []])
    recordings = await open({ isShared: () => true })
    // The file has the time of the machine's clock, while the clock of the test has advanced.
    const path = join(dataDir, 'recordings/spool', `${call.call_sid}.wav`)
    await utimes(path, 0, 0)
    recordings.wake()
    await until('it is stored', async () => {
      clock.advance(1200)
      return (await stateOf(call)) === 'stored'
    })
    expect(puts.map(({ key }) => key)).toEqual([call.running.key])
    expect(await other.find(account_sid, call.call_sid)).toMatchObject({ state: 'stored', place: 'bucket' })
  })

  it('serve, and remove after their time, what is on their own disk alone, and what is in a bucket each', async () => {
    const inBucket = await begin()
    say(inBucket, 10)
    await end(inBucket)
    await settled(inBucket, 'stored')
    credential = null
    const onDisk = await begin()
    say(onDisk, 10)
    await end(onDisk)
    await settled(onDisk, 'stored')
    const found = await other.find(account_sid, onDisk.call_sid)
    expect(found).toMatchObject({ place: 'disk' })
    await expect(other.read(found!, undefined)).rejects.toMatchObject({ code: 'not_found' })
    expect((await recordings.read(found!, undefined)).bytes).toBe(44 + 10 * 640)
    await recordings.stop()
    credential = { vendor: 'aws_s3' }
    await storage.expired.remove('recordings', clock.now() + 1, 10)
    await until('the other has removed the one in the bucket', async () => {
      clock.advance(60_000)
      return (await stateOf(inBucket)) === undefined
    })
    expect(await stateOf(onDisk)).toBe('expired')
    recordings = await open()
    await until('this one has removed its own', async () => {
      clock.advance(60_000)
      return (await stateOf(onDisk)) === undefined
    })
    expect(await readdir(join(dataDir, 'recordings/kept', account_sid, '2026/11/21'))).toEqual([])
  })
})

describe('the recorder', () => {
  it('that dies is started again and goes on with the same file, which says that it has a gap', async () => {
    const call = await begin()
    say(call, 50)
    await until('the recorder has them', () => hasTaken(call))
    const first = thread
    await first?.terminate()
    await until('another one', () => thread !== first && call.gaps.length > 0)
    say(call, 50)
    await end(call)
    await settled(call, 'stored')
    const frames = samplesOf(puts[0]!.bytes).length / 320
    expect(frames).toBeGreaterThanOrEqual(75)
    expect(frames).toBeLessThanOrEqual(100)
    expect(call.ended).toEqual([])
  })

  it('that dies again and again ends its recordings with a reason, and what it has written is stored', async () => {
    const call = await begin()
    say(call, 55)
    const path = join(dataDir, 'recordings/spool', `${call.call_sid}.wav`)
    await until('a second of sound', async () => {
      const written = await readFile(path).catch(() => '')
      return written.length >= 44 + 32_000
    })
    for (let deaths = 0; deaths < 5; deaths += 1) {
      const before = thread
      await before?.terminate()
      await until('its death', () => thread !== before || call.ended.length > 0)
    }
    expect(call.ended).toEqual(['the recorder failed'])
    await end(call, 'the recorder failed')
    await until('its upload', () => puts.length > 0)
    expect(puts[0]?.bytes.length).toBe(44 + 32_000)
  })
})

describe('a process that was killed', () => {
  it('leaves a file that the next one finishes and stores, once', async () => {
    const call = await begin()
    say(call, 60)
    await until('the recorder has them', () => hasTaken(call))
    // The audio that would be on the disk, after the header that the file begins with.
    const path = join(dataDir, 'recordings/spool', `${call.call_sid}.wav`)
    const left = await readFile(path)
    expect(left.readUInt32LE(40)).toBe(0)
    await recordings.stop()
    await writeFile(path, left)
    recordings = await open()
    await until('its end', async () => (await stateOf(call)) !== 'recording')
    clock.advance(1200)
    await settled(call, 'stored')
    recordings.wake()
    clock.advance(60_000)
    expect(puts.map(({ key }) => key)).toEqual([`2026/11/21/${call.call_sid}.wav`])
    expect(puts[0]?.bytes.readUInt32LE(40)).toBe(left.length - 44)
    expect(await notified()).toHaveLength(1)
    await until('nothing is spooled', async () => (await spooled()).length === 0)
  })

  it('between the upload and its commit has the recording put there again, under the same name', async () => {
    const call = await begin()
    say(call, 20)
    refusal = new AppError('bucket_failed', 'away')
    await end(call)
    await until(
      'the first attempt',
      async () => (await storage.recordings.find(call.call_sid))?.attempts === 1,
    )
    await recordings.stop()
    refusal = undefined
    recordings = await open()
    await settled(call, 'stored')
    expect(puts).toHaveLength(1)
  })

  it('before its first sound leaves a row without a file, which fails: where others share the directory, not while it may begin', async () => {
    const call = await begin()
    await recordings.stop()
    await rm(join(dataDir, 'recordings/spool', `${call.call_sid}.wav`))
    const other = await open({ isShared: () => true })
    clock.advance(10_000)
    other.wake()
    await storage.calls.flush()
    expect(await stateOf(call)).toBe('recording')
    await until('its failure', async () => {
      clock.advance(5000)
      return (await stateOf(call)) === 'failed'
    })
    expect(clock.now() - attempted_at).toBeGreaterThanOrEqual(30_000)
    await other.stop()
    recordings = await open()
  })

  it('between keeping a file and its commit has lost nothing', async () => {
    credential = null
    let kills = 1
    await recordings.stop()
    recordings = await open({
      calls: {
        flush: () => storage.calls.flush(),
        write(batch, when) {
          if (batch.recordings?.[0]?.change === 'stored' && kills-- > 0) throw new Error('killed')
          storage.calls.write(batch, when)
        },
      },
    })
    const call = await begin()
    say(call, 20)
    await end(call)
    await until(
      'the first attempt',
      async () => (await storage.recordings.find(call.call_sid))?.attempts === 1,
    )
    clock.advance(10_000)
    await settled(call, 'stored')
    const { body } = await recordings.read((await recordings.find(account_sid, call.call_sid))!, undefined)
    expect((await buffer(body)).length).toBe(44 + 20 * 640)
  })

  it('after the commit leaves files that the next one removes, and no file that it does not know', async () => {
    const call = await begin()
    say(call, 10)
    await end(call)
    await settled(call, 'stored')
    await recordings.stop()
    const unknown = `${createSid()}.wav`
    for (const name of [`${call.call_sid}.wav`, `${call.call_sid}.mp3`, unknown])
      await writeFile(join(dataDir, 'recordings/spool', name), 'sound')
    recordings = await open()
    expect(await spooled()).toEqual([unknown])
  })

  it('in a directory that others share is treated as dead when it has not written for a while', async () => {
    const call = await begin()
    say(call, 30)
    await until('the recorder has them', () => hasTaken(call))
    const other = await open({ isShared: () => true })
    other.wake()
    clock.advance(10_000)
    expect(await stateOf(call)).toBe('recording')
    await other.stop()
    await end(call)
    await settled(call, 'stored')
  })

  it('in a directory that others share has its space again once another process has stored what it recorded', async () => {
    const limits = { spoolBytes: 60_000, accountBytes: megabyte, days: 30 }
    const away = async (): Promise<void> => {
      throw new Error('the bucket is away')
    }
    const other = await open({ isShared: () => true, limits, put: away, sharePercent: 99 })
    const call = await begin('wav', other)
    say(call, 50)
    await end(call)
    await until('this one has stored it', async () => {
      clock.advance(10_000)
      return (await stateOf(call)) === 'stored'
    })
    await until('the other one records again', async () => {
      clock.advance(10_000)
      return begin('wav', other).then(
        () => true,
        () => false,
      )
    })
    await other.stop()
  })
})
