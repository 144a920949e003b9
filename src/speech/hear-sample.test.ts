// The test of a credential by the recogniser that calls use, against a vendor's stand-in that knows words by their sound.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSpeechmatics } from '../../test/support/vendors/speechmatics.ts'
import type { Front } from '../../test/support/vendors/front.ts'
import { speechClips } from '../../test/support/vendors/speech-clips.ts'
import { createResampler } from '../lib/audio/resampler.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createStreams } from '../streams/create-streams.ts'
import { hearSample } from './hear-sample.ts'
import { sampleText } from './try-vendor.ts'

const clips = speechClips([sampleText], { voice: 'kal16' })
const streams = createStreams({ allow: ['127.0.0.0/8'], nameServers: undefined, log: silentLogger })
let front: Front

beforeAll(async () => {
  front = await startSpeechmatics({ clips, key: 'the-key' })
})
afterAll(async () => {
  await streams.stop()
  await front.close()
})

function recording() {
  const { audio } = clips[0] ?? { audio: { sampleRate: 16_000, samples: new Float64Array(0) } }
  const samples = createResampler(audio.sampleRate, 16_000).push(Float32Array.from(audio.samples))
  const pcm = Int16Array.from(samples, (sample) => Math.round(sample * 32_767))
  return { sampleRate: 16_000, bytes: new Uint8Array(pcm.buffer) }
}

const trial = (api_key: string) => ({
  recognisers: streams,
  vendor: 'speechmatics',
  settings: { api_key, speechmatics_stt_uri: front.url.replace(/\/v2.*$/, '') },
  language: 'en-US',
  recording: recording(),
  clock: systemClock,
})

describe('a sample that is sent as a call would send it', () => {
  it('is heard with its words', async () => {
    expect(await hearSample(trial('the-key'))).toMatch(/short test of the telephone/)
    expect(front.breaches).toEqual([])
  })

  it('fails with the reason if the vendor refuses the key', async () => {
    await expect(hearSample(trial('another'))).rejects.toMatchObject({ code: 'speech_failed' })
  })

  it('ends with the request that asked for it', async () => {
    const gone = new AbortController()
    const reason = new Error('the client has gone')
    setTimeout(() => gone.abort(reason), 200)
    await expect(hearSample({ ...trial('the-key'), signal: gone.signal })).rejects.toBe(reason)
  })
})
