// Every vendor with its stand-in, which recognises by sound and reports each breach of its protocol: what the caller says
// arrives once, whatever happens to the connection.
import { afterEach, describe, expect, it } from 'vitest'
import { VendorStage, type HeardCall } from '../../../test/support/vendor-stage.ts'
import { startAssemblyai } from '../../../test/support/vendors/assemblyai.ts'
import { startCustom } from '../../../test/support/vendors/custom.ts'
import { startDeepgramFlux } from '../../../test/support/vendors/deepgram-flux.ts'
import { startDeepgram } from '../../../test/support/vendors/deepgram.ts'
import { startElevenlabs } from '../../../test/support/vendors/elevenlabs.ts'
import { plain, type Fault, type Front, type FrontOptions } from '../../../test/support/vendors/front.ts'
import { startGladia } from '../../../test/support/vendors/gladia.ts'
import { onLine } from '../../../test/support/vendors/line.ts'
import { startOpenaiRealtime } from '../../../test/support/vendors/openai-realtime.ts'
import { startSoniox } from '../../../test/support/vendors/soniox.ts'
import { speechClips } from '../../../test/support/vendors/speech-clips.ts'
import { startSpeechmatics } from '../../../test/support/vendors/speechmatics.ts'
import { startVosk } from '../../../test/support/vendors/vosk.ts'
import { until } from '../../../test/support/wait.ts'
import { createAssemblyAi } from './assemblyai.ts'
import { custom } from './custom.ts'
import { deepgramFlux } from './deepgram-flux.ts'
import { deepgram } from './deepgram.ts'
import type { VendorOfEars } from './dialect.ts'
import { elevenlabs } from './elevenlabs.ts'
import { createGladia } from './gladia.ts'
import { createOpenAi } from './openai.ts'
import { createSoniox } from './soniox.ts'
import { speechmatics } from './speechmatics.ts'
import { vosk } from './vosk.ts'

const clips = [
  ...speechClips(['I would like to book a table for two.', 'Goodbye and have a nice day.'], { voice: 'slt' }),
  ...speechClips([{ say: 'My name is Andre.', text: 'My name is André.' }], { voice: 'rms' }),
]
const [table, goodbye, name] = clips as [(typeof clips)[0], (typeof clips)[0], (typeof clips)[0]]

const stage = new VendorStage()
const fronts: Front[] = []
afterEach(async () => {
  await stage.clear()
  for (const front of fronts.splice(0)) await front.close()
})

interface Case {
  readonly name: string
  readonly start: (options: FrontOptions) => Promise<Front>
  readonly vendor: (front: Front) => VendorOfEars
  readonly settings?: (front: Front) => Readonly<Record<string, unknown>>
  readonly vendorOptions?: (front: Front) => Readonly<Record<string, unknown>>
}

const at = (front: Front): string => `ws://${front.host}`
const keyOf = (key: string) => () => ({ api_key: key })

const cases: readonly Case[] = [
  {
    name: 'deepgram',
    start: startDeepgram,
    vendor: () => deepgram,
    settings: (front) => ({ api_key: 'deepgram-key', deepgram_stt_uri: front.host }),
  },
  {
    name: 'deepgramflux',
    start: startDeepgramFlux,
    vendor: () => deepgramFlux,
    settings: (front) => ({ api_key: 'deepgram-key', deepgram_stt_uri: front.host }),
  },
  {
    name: 'custom',
    start: startCustom,
    vendor: () => custom,
    settings: (front) => ({ custom_stt_url: front.url, auth_token: 'custom-token' }),
  },
  {
    name: 'assemblyai',
    start: startAssemblyai,
    vendor: (front) => createAssemblyAi(at(front)),
    settings: keyOf('assemblyai-key'),
    vendorOptions: () => ({ formatTurns: true }),
  },
  {
    name: 'soniox',
    start: startSoniox,
    vendor: (front) => createSoniox(at(front)),
    settings: keyOf('soniox-key'),
  },
  {
    name: 'speechmatics',
    start: startSpeechmatics,
    vendor: () => speechmatics,
    settings: (front) => ({ api_key: 'speechmatics-key', speechmatics_stt_uri: at(front) }),
  },
  {
    name: 'elevenlabs',
    start: startElevenlabs,
    vendor: () => elevenlabs,
    settings: (front) => ({ api_key: 'elevenlabs-key', api_uri: at(front) }),
  },
  {
    name: 'gladia',
    start: startGladia,
    vendor: (front) => createGladia(`http://${front.host}`),
    settings: keyOf('gladia-key'),
  },
  {
    name: 'openai',
    start: startOpenaiRealtime,
    vendor: (front) => createOpenAi('openai', `http://${front.host}/v1`),
    settings: () => ({ api_key: 'openai-key', model_id: 'gpt-4o-transcribe' }),
  },
  { name: 'vosk', start: startVosk, vendor: () => vosk, vendorOptions: (front) => ({ uri: at(front) }) },
]

async function open(
  { start, vendor, settings, vendorOptions }: Case,
  ...faults: readonly Fault[]
): Promise<{ readonly front: Front; readonly call: HeardCall }> {
  // The time of the test runs faster than that of the stand-in.
  const front = await start({ clips, maxAheadMs: Infinity })
  fronts.push(front)
  front.fail(...faults)
  const call = stage.call(vendor(front), {
    settings: settings?.(front) ?? {},
    vendorOptions: vendorOptions?.(front) ?? {},
  })
  await call.opened()
  return { front, call }
}

const sound = (clip: (typeof clips)[0]): readonly Buffer[] =>
  onLine(clip.audio, { encoding: 'linear16', afterMs: 900 })

/** Lets time pass until there is this number of finals. */
async function finals(call: HeardCall, count: number): Promise<readonly string[]> {
  await until(`${count} finals`, async () => {
    await call.silence(60)
    return call.finals.length >= count
  })
  return call.finals.map(plain)
}

describe.each(cases)('$name', (vendor) => {
  it('is spoken without a breach, from the first sound to the end', async () => {
    const { front, call } = await open(vendor)
    await call.play(sound(table))
    expect(await finals(call, 1)).toEqual([plain(table.text)])
    await call.play(sound(goodbye))
    expect(await finals(call, 2)).toEqual([plain(table.text), plain(goodbye.text)])
    expect((await call.close()).by).toBe('closed')
    expect(call.finals).toHaveLength(2)
    expect(front.breaches).toEqual([])
  })

  it('is asked for the end of what was said when the recogniser is closed', async () => {
    const { front, call } = await open(vendor)
    await call.play(onLine(goodbye.audio, { encoding: 'linear16', afterMs: 60 }))
    expect((await call.close()).by).toBe('closed')
    expect(call.finals.map(plain)).toEqual([plain(goodbye.text)])
    expect(front.breaches).toEqual([])
  })

  it('is heard once with characters in two fragments, empty finals, and ends that are sent twice', async () => {
    const { front, call } = await open(vendor, { splitsUtf8: true, emptyFinals: true, repeatsEnds: true })
    await call.play(sound(name))
    await finals(call, 1)
    await call.silence(1000)
    const heard = call.finals.map(plain)
    expect(new Set(heard)).toEqual(new Set([plain(name.text)]))
    expect(front.breaches).toEqual([])
  })

  // A session of Gladia goes on, and its stand-in begins again.
  it.skipIf(vendor.name === 'gladia')('loses no word when the connection breaks in one', async () => {
    const { front, call } = await open(vendor, { cutAfterWords: 3 })
    await call.play(sound(table))
    const heard = await finals(call, 1)
    expect(heard).toEqual([plain(table.text)])
    expect(front.sessions.length).toBe(2)
    expect(front.breaches).toEqual([])
  })

  it('is replaced after half a message, and after a giant one', async () => {
    const { call } = await open(vendor, { garbage: true }, { giantBytes: 400_000 })
    await call.play(sound(table))
    expect((await finals(call, 1)).at(0)).toContain('table')
  })

  it('fails at once when the key is refused', async () => {
    const front = await vendor.start({ clips })
    fronts.push(front)
    front.fail({ refuseWith: 401 })
    const call = stage.call(vendor.vendor(front), {
      settings: vendor.settings?.(front) ?? {},
      vendorOptions: vendor.vendorOptions?.(front) ?? {},
    })
    expect((await call.ended()).by).toBe('failed')
    expect(front.sessions).toHaveLength(1)
  })
})
