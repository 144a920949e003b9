// Speech, put together: chooses the vendor and its credential, keeps the clips, tries vendors for the API.
import { storedOffer } from './offers/stored-only.ts'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock, type Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { Part } from '../lib/lifecycle.ts'
import type { Logger } from '../lib/log.ts'
import { endingWith } from '../outgoing/create-outgoing.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { ClipCache } from './clip-cache.ts'
import { vendorMakers } from './index.ts'
import { hearSample } from './hear-sample.ts'
import { readWav } from './read-wav.ts'
import { renderSpeech, writeClip, type Rendering } from './render-clip.ts'
import { toSegments } from './segments.ts'
import type {
  ChosenVoice,
  Pcm,
  Settings,
  SpeechVendor,
  Synthesizer,
  VendorMaker,
  VendorOptions,
  WantedVoice,
} from './vendor.ts'
import { sampleText, tryVendor } from './try-vendor.ts'
import type { Recognisers } from '../contracts/recognition.ts'
import type { SpeechRequest } from '../contracts/speech.ts'
import type { SpeechCredentials, SpeechService } from './speech.ts'

export interface SpeechOptions {
  readonly cacheDir: string
  readonly outgoing: Outgoing
  readonly credentials: SpeechCredentials
  /** The recognisers of calls, by which credentials are tested too. */
  readonly recognisers?: Recognisers | undefined
  readonly log: Logger
  readonly clock?: Clock
  readonly maxCacheBytes?: number
  readonly sharePercent?: number
  readonly makers?: readonly [VendorMaker, ...VendorMaker[]]
}

// Ten minutes of speech; a longer text is not a prompt.
const maxTextLength = 10_000
const megabyte = 1024 * 1024
// Recognizers expect 16 kHz.
const sampleVoice = 'kal16'

export function createSpeech(options: SpeechOptions): SpeechService & Part {
  const { cacheDir, log, clock = systemClock, maxCacheBytes = 256 * megabyte } = options
  const { credentials, makers = vendorMakers } = options
  const cache = new ClipCache({ directory: join(cacheDir, 'speech'), maxBytes: maxCacheBytes, log })
  const scratchDir = join(cacheDir, 'speech-scratch')
  const vendorOptions: VendorOptions = {
    scratchDir,
    outgoing: options.outgoing,
    clock,
    log,
    sharePercent: options.sharePercent,
  }
  const made = makers.map((make) => make(vendorOptions))
  const makerOf = new Map(made.map((vendor, index) => [vendor, makers[index]]))
  const vendors = new Map(made.map((vendor) => [vendor.name, vendor]))
  const embedded = embeddedSpeaker(made[0])

  const find = (name: string): SpeechVendor | undefined =>
    vendors.get(name.startsWith('custom:') ? 'custom' : name)

  /** Returns a vendor for one request: it ends with the signal, and no remembered token hides a bad credential. */
  function makeVendor(name: string, signal: AbortSignal | undefined): SpeechVendor | undefined {
    const vendor = find(name)
    if (signal === undefined || vendor?.needsCredential !== true) return vendor
    return makerOf.get(vendor)?.({ ...vendorOptions, outgoing: endingWith(signal, options.outgoing) })
  }

  /** Returns the requested vendor if there is a credential for it, else the embedded voice. */
  async function findSpeaker(request: SpeechRequest): Promise<Speaker> {
    const { vendor: name } = request
    if (name === null) return embedded
    const vendor = find(name)
    const needsCredential = vendor?.needsCredential === true
    const credential = needsCredential
      ? await credentials.find({ ...request, vendor: name, use: 'tts' })
      : undefined
    if (needsCredential && credential === undefined)
      return { ...embedded, missing: `there is no credential for ${name}` }
    const speaker = speakerOf(vendor, credential?.settings ?? noSettings, credential?.owner)
    return speaker ?? { ...embedded, missing: `${name} is not a vendor that can speak here` }
  }

  async function prepare(request: SpeechRequest) {
    const { vendor, synthesizer, settings, owner, missing } = await findSpeaker(request)
    const { voice, language, text } = request
    // A stand-in does not have the voices of the requested vendor.
    const wanted = { voice: missing === undefined ? voice : null, language, text }
    const rendering = renderingOf(synthesizer, settings, wanted)
    return {
      rendering,
      name: nameOf(vendor, rendering, owner),
      note: noteOf(missing, rendering.chosen),
      isVendorMissing: missing !== undefined,
    }
  }

  return {
    name: 'speech',
    async start() {
      await cache.load()
    },
    async stop() {
      for (const vendor of made) await vendor.stop?.()
    },
    warm: () => embedded.synthesizer.warm?.(),
    cache: {
      size: (account_sid) => cache.size(account_sid),
      clear: (account_sid) => cache.clear(account_sid),
      async keep(name, account_sid, speak) {
        const clip = await cache.obtain(name, async (path) => writeClip(path, await speak()), account_sid)
        try {
          return readWav(await readFile(clip.path), 'the cache')
        } finally {
          clip.release()
        }
      },
    },
    async synthesize(request) {
      request.signal?.throwIfAborted()
      demandSpeakable(request.text)
      const { rendering, name, note, isVendorMissing } = await prepare(request)
      request.signal?.throwIfAborted()
      const obtaining = cache.obtain(
        name,
        async (path) => writeClip(path, await renderSpeech(rendering)),
        request.account_sid,
      )
      const clip = await unlessAborted(obtaining, request.signal)
      const told = note === undefined ? {} : { note }
      return {
        path: clip.path,
        fallback: note !== undefined,
        isVendorMissing,
        ...told,
        release: () => clip.release(),
      }
    },
    async speak({ vendor, settings, signal, ...wanted }) {
      demandSpeakable(wanted.text)
      const speaker = speakerOf(makeVendor(vendor, signal), settings, undefined)
      if (speaker === undefined)
        throw new AppError('synthesizer_unknown', `${vendor} is not a vendor that can speak here`)
      return renderSpeech(renderingOf(speaker.synthesizer, settings, wanted))
    },
    async test({ vendor, settings, uses, signal }) {
      const recording = (): Promise<Pcm> =>
        embedded.synthesizer.synthesize(
          { text: sampleText, isSsml: false, voice: sampleVoice, language: null },
          noSettings,
        )
      const { recognisers } = options
      const hear =
        recognisers?.whyNot(vendor) === undefined && recognisers !== undefined
          ? (sample: Pcm, language: string) =>
              hearSample({ recognisers, vendor, settings, language, recording: sample, clock, signal })
          : undefined
      return tryVendor({ vendor: makeVendor(vendor, signal), settings, uses, recording, hear, log })
    },
    async offer({ vendor: name, settings, signal }) {
      const vendor = makeVendor(name, signal)
      if (vendor === undefined) return storedOffer(name)
      if (settings === undefined || vendor.fetchOffer === undefined) return vendor.offer()
      return vendor.fetchOffer(settings)
    },
  }
}

interface Speaker {
  readonly vendor: SpeechVendor
  readonly synthesizer: Synthesizer
  readonly settings: Settings
  /** The owner of the credential; undefined for a voice that needs none. */
  readonly owner: string | undefined
  /** The reason why the embedded voice stands in. */
  readonly missing?: string
}

const noSettings: Settings = Object.freeze({})

function demandSpeakable({ length }: string): void {
  if (length > maxTextLength)
    throw new AppError('speech_failed', `the text is longer than ${maxTextLength} characters`, {
      cure: 'Say it in several shorter texts.',
    })
}

function renderingOf(
  synthesizer: Synthesizer,
  settings: Settings,
  { text, ...wanted }: WantedVoice & { readonly text: string },
): Rendering {
  const isDocument = synthesizer.takesSsml && /^\s*<speak[\s>]/i.test(text)
  const segments = isDocument ? [{ ssml: text.trim() }] : toSegments(text)
  return { synthesizer, settings, chosen: synthesizer.choose(wanted, settings), segments }
}

function embeddedSpeaker(vendor: SpeechVendor | undefined): Speaker {
  const speaker = speakerOf(vendor, noSettings, undefined)
  if (speaker === undefined) throw new Error('the first vendor cannot speak')
  return speaker
}

function speakerOf(
  vendor: SpeechVendor | undefined,
  settings: Settings,
  owner: string | undefined,
): Speaker | undefined {
  if (vendor?.synthesizer === undefined) return undefined
  return { vendor, synthesizer: vendor.synthesizer, settings, owner }
}

/**
 * Returns the name of a clip. The same words in the same voice are the same file for all callers whose credentials
 * have one owner. Others get a separate file: speech that one customer paid for is not played to another, nor does it
 * reveal to another that it was spoken.
 */
function nameOf(
  { name, version }: SpeechVendor,
  { synthesizer, settings, chosen, segments }: Rendering,
  owner: string | undefined,
): string {
  const { voice, language } = chosen
  const sound = synthesizer.soundOf?.(settings)
  const paidFor = owner === undefined ? [] : [owner]
  return createHash('sha256')
    .update(JSON.stringify([name, version, voice, language, sound, segments, ...paidFor]))
    .digest('hex')
}

function noteOf(
  missing: string | undefined,
  { isStandIn, voice, language }: ChosenVoice,
): string | undefined {
  if (missing !== undefined) return `say: ${missing}; the embedded voice speaks`
  if (!isStandIn) return undefined
  return `say: no such voice${language === null ? '' : ` for ${language}`}; ${voice} speaks`
}

/** Stops waiting when the signal aborts. The work continues for other callers and for the cache. */
async function unlessAborted<T extends { release(): void }>(
  work: Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', onAbort, { once: true })
    const settle = (clip: T): void => {
      signal.removeEventListener('abort', onAbort)
      if (signal.aborted) clip.release()
      else resolve(clip)
    }
    work.then(settle, (error: unknown) => {
      signal.removeEventListener('abort', onAbort)
      reject(error instanceof Error ? error : new Error(String(error)))
    })
  })
}
