// The frequency band of a wide codec: from a real phone to an audio server and back, and from a file to a phone.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { slice, tone, toWav, type Audio } from '../support/audio.ts'
import { serveAudio, type AudioServer } from '../support/audio-server.ts'
import { startBaresip } from '../support/baresip.ts'
import { provision, sharedPlatform, type Platform, type Tenant } from '../support/platform-process.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'
import { toneDb } from '../support/wide-phone.ts'

// Frequencies above a telephone's band, another one for each direction.
const saidHz = 6000
const answeredHz = 5000

let application: Application
let audio: AudioServer
let platform: Platform
let tenant: Tenant

beforeAll(async () => {
  application = await startApplication()
  audio = await serveAudio()
  application.on('/status', { status: 200 })
  platform = await sharedPlatform()
  tenant = await provision(platform.api, { application })
})
afterAll(async () => {
  await application?.close()
  await audio?.close()
})

/** Returns the last 500 ms of what came at this rate. */
function newest(samples: Float64Array, sampleRate: number): Audio {
  const lengthMs = (samples.length / sampleRate) * 1000
  return slice({ sampleRate, samples }, lengthMs - 500, lengthMs)
}

describe.skipIf(isMissing('baresip'))('listen, where the phone talks', () => {
  it.each([
    ['G722', 16_000, 1],
    ['opus', 16_000, 3],
    ['opus', 48_000, 3],
  ] as const)(
    '%s at %i Hz carries frequencies above a telephone’s band both ways',
    async (codecs, sampleRate, lossDb) => {
      const bidirectionalAudio = { enabled: true, streaming: true, sampleRate }
      application.on('/call', {
        json: [{ verb: 'listen', url: audio.url, sampleRate, mixType: 'mono', bidirectionalAudio }],
      })
      const from = audio.streams.items.length
      const says = tone(saidHz, 60_000, { sampleRate: 16_000 })
      const phone = await startBaresip({ ...tenant, proxy: platform.sip, codecs, says })
      try {
        expect(await phone.registered()).toMatchObject({ ok: true })
        await phone.dial(`sip:${tenant.target}`)
        const stream = await audio.streams.next('the stream', () => true, { from })
        await until('two seconds of the phone', () => stream.samples().length > 2 * sampleRate)
        expect(Math.abs(toneDb(newest(stream.samples(), sampleRate), saidHz))).toBeLessThan(lossDb)
        stream.socket.send(toWav(tone(answeredHz, 3000, { sampleRate })).subarray(44))
        const heardDb = async (): Promise<number> => {
          const heard = await phone.heard()
          return toneDb(newest(heard.samples, heard.sampleRate), answeredHz)
        }
        await until('the server to be heard', async () => Math.abs(await heardDb()) < lossDb, {
          everyMs: 200,
        })
      } finally {
        await phone.stop()
      }
    },
  )
})

describe.skipIf(isMissing('baresip'))('play, where the phone talks', () => {
  it.each([
    ['G722', 1],
    ['opus', 3],
  ] as const)('%s is heard with frequencies above a telephone’s band', async (codecs, lossDb) => {
    application.on('/high.wav', {
      status: 200,
      headers: { 'content-type': 'audio/wav' },
      body: toWav(tone(answeredHz, 5000, { sampleRate: 16_000 })),
    })
    application.on('/call', { json: [{ verb: 'play', url: application.url('/high.wav') }] })
    const phone = await startBaresip({ ...tenant, proxy: platform.sip, codecs })
    try {
      expect(await phone.registered()).toMatchObject({ ok: true })
      await phone.dial(`sip:${tenant.target}`)
      const heardDb = async (): Promise<number> => {
        const heard = await phone.heard()
        return toneDb(newest(heard.samples, heard.sampleRate), answeredHz)
      }
      await until('the file to be heard', async () => Math.abs(await heardDb()) < lossDb, { everyMs: 200 })
    } finally {
      await phone.stop()
    }
  })
})
