// The recording of a real phone: in the file that the API returns, its speech is on the left and what it hears on the
// right.
import { createServer } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MPEGDecoder } from 'mpg123-decoder'
import { rms, slice, tone, toneSegments, toWav, type Audio } from '../support/audio.ts'
import { startApplication, type Application } from '../support/application.ts'
import { startBaresip } from '../support/baresip.ts'
import { bucket, type BucketStandIn } from '../support/bucket-stand-in.ts'
import { serveS3 } from '../support/s3-bucket.ts'
import {
  adminApiKey,
  provision,
  recentCalls,
  sharedPlatform,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

const keys = { id: 'minio', secret: 'a-secret-of-the-storage', region: 'us-east-1' }
const [saidHz, heardHz] = [700, 1100]

let application: Application
let platform: Platform
let tenant: Tenant
let s3: BucketStandIn

beforeAll(async () => {
  application = await startApplication()
  application.on('/status', { status: 200 })
  s3 = await serveS3(keys)
  platform = await sharedPlatform()
})
// A tenant for each try: the remains of an earlier try belong to another account.
beforeEach(async () => {
  tenant = await provision(platform.api, { application })
})
afterAll(async () => {
  await application?.close()
  await s3?.close()
})

const bucketCredential = ({ url: endpoint }: BucketStandIn) => ({
  vendor: 's3_compatible',
  name: bucket,
  endpoint,
  access_key_id: keys.id,
  secret_access_key: keys.secret,
})

/** Serves a tone for the platform to play. */
async function serveTone(): Promise<{ readonly url: string; close(): void }> {
  const bytes = toWav(tone(heardHz, 4000))
  const server = createServer((_request, response) => void response.writeHead(200).end(bytes))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  return { url: `http://127.0.0.1:${port}/tone.wav`, close: () => server.close() }
}

async function call(verbs: readonly object[]): Promise<Record<string, unknown>> {
  application.on('/call', { json: verbs })
  const says = tone(saidHz, 30_000)
  const phone = await startBaresip({ ...tenant, says, answers: 'manual', proxy: platform.sip })
  await phone.registered()
  await phone.dial(tenant.target)
  await phone.events.next('the end of the call', ({ type }) => type === 'CALL_CLOSED', { timeoutMs: 20_000 })
  await phone.stop()
  const [record] = await recentCalls(platform.api, tenant.account_sid, 1)
  return { ...record }
}

async function download(url: unknown, headers = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${platform.httpPort}/v1${String(url)}`, {
    headers: { authorization: `Bearer ${adminApiKey}`, ...headers },
  })
}

/** Returns the recording once it is stored: the platform records a moment later that it is in a bucket. */
const recordingAt = (url: unknown): Promise<Response> =>
  until('the recording', async () => {
    const answer = await download(url)
    return answer.status === 200 && answer
  })

/** Returns one channel of a WAV file with two. */
function side(bytes: Buffer, channel: 0 | 1): Audio {
  const both = new Int16Array(Uint8Array.from(bytes.subarray(44)).buffer)
  const samples = Float64Array.from(
    { length: both.length / 2 },
    (_, index) => (both[2 * index + channel] ?? 0) / 32_768,
  )
  return { sampleRate: 8000, samples }
}

/** Returns the gain over a tone of the full level, in dB, in the middle of its longest stretch. */
function gainDb(heard: Audio, hz: number): number {
  const [segment] = toneSegments(heard, hz).toSorted((a, b) => b.endMs - b.startMs - (a.endMs - a.startMs))
  if (segment === undefined) throw new Error(`a tone of ${hz} Hz is not there`)
  const middle = slice(heard, segment.startMs + 200, segment.endMs - 200)
  return 20 * Math.log10(rms(middle) / rms(tone(hz, 1000)))
}

const isSilent = (heard: Audio, hz: number) => toneSegments(heard, hz).length === 0

describe.skipIf(isMissing('baresip'))('a call that is recorded', () => {
  it('a recording on the platform’s disk is WAV with the phone’s speech left and what it hears right', async () => {
    await platform.api.must('PUT', `/Accounts/${tenant.account_sid}`, {
      record_all_calls: 1,
      record_format: 'wav',
    })
    const sound = await serveTone()
    const record = await call([{ verb: 'answer' }, { verb: 'play', url: sound.url }, { verb: 'hangup' }])
    sound.close()
    const { recording_url } = record
    expect(recording_url).toMatch(
      new RegExp(`/RecentCalls/${String(record['call_sid'])}/record/\\d{4}/\\d\\d/\\d\\d/wav$`),
    )
    const answer = await recordingAt(recording_url)
    expect(answer.headers.get('content-type')).toBe('audio/wav')
    const bytes = Buffer.from(await answer.arrayBuffer())
    const [left, right] = [side(bytes, 0), side(bytes, 1)]
    expect(Math.abs(gainDb(left, saidHz))).toBeLessThan(1)
    expect(Math.abs(gainDb(right, heardHz))).toBeLessThan(1)
    expect([isSilent(left, heardHz), isSilent(right, saidHz)]).toEqual([true, true])
    const part = await download(recording_url, { range: 'bytes=0-3' })
    expect([part.status, await part.text()]).toEqual([206, 'RIFF'])
    const told = await until('the notification', () =>
      application
        .to('/status')
        .find(({ body }) => body['event'] === 'recording' && body['call_sid'] === record['call_sid']),
    )
    expect(told.body).toMatchObject({ recording_status: 'stored', recording_url })
    expect(told.headers).toHaveProperty('jambonz-signature')
    expect((await platform.api.call('DELETE', String(recording_url))).status).toBe(204)
    expect((await download(recording_url)).status).toBe(404)
  })

  it('a recording arrives as MP3 in the bucket of the account, masked while it is paused', async () => {
    await platform.api.must('PUT', `/Accounts/${tenant.account_sid}`, {
      record_all_calls: 0,
      record_format: 'mp3',
      bucket_credential: bucketCredential(s3),
    })
    const sound = await serveTone()
    const action = (name: string) => ({
      verb: 'config',
      record: { action: `${name}CallRecording`, type: 'cloud' },
    })
    const record = await call([
      action('start'),
      { verb: 'answer' },
      { verb: 'play', url: sound.url },
      action('pause'),
      { verb: 'pause', length: 2 },
      action('resume'),
      { verb: 'pause', length: 2 },
      { verb: 'hangup' },
    ])
    sound.close()
    const answer = await recordingAt(record['recording_url'])
    expect(answer.headers.get('content-type')).toBe('audio/mpeg')
    expect(s3.objects.size).toBeGreaterThan(0)
    const decoder = new MPEGDecoder()
    await decoder.ready
    const { channelData, sampleRate } = decoder.decode(new Uint8Array(await answer.arrayBuffer()))
    const [left, right] = channelData.map((samples) => ({ sampleRate, samples: Float64Array.from(samples) }))
    decoder.free()
    expect(Math.abs(gainDb(left!, saidHz))).toBeLessThan(1)
    expect(Math.abs(gainDb(right!, heardHz))).toBeLessThan(1)
    expect([isSilent(left!, heardHz), isSilent(right!, saidHz)]).toEqual([true, true])
    // There is speech before the pause and after it, and two seconds of silence between.
    const stretches = toneSegments(left!, saidHz).filter(({ startMs, endMs }) => endMs - startMs > 500)
    expect(stretches).toHaveLength(2)
    const maskedMs = stretches[1]!.startMs - stretches[0]!.endMs
    expect(maskedMs).toBeGreaterThan(1700)
    expect(maskedMs).toBeLessThan(2300)
  })
})
