import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, readlink, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { scripted } from '../../test/support/scripted-vendor.ts'
import { mountVolume } from '../../test/support/small-volume.ts'
import { until } from '../../test/support/wait.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { silentLogger } from '../lib/log.ts'
import { actingFor } from '../lib/acting-for.ts'
import { createOutgoing } from '../outgoing/create-outgoing.ts'
import { createSpeech, type SpeechOptions } from './create-speech.ts'
import type { SpeechRequest } from '../contracts/speech.ts'
import type { SpeechCredentials } from './speech.ts'

let cacheDir = ''
const stopping: (() => Promise<void>)[] = []

beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'switchhook-speech-'))
})

afterEach(async () => {
  for (const stop of stopping.splice(0)) await stop()
  await rm(cacheDir, { recursive: true, force: true })
})

function makeSpeech(options: Partial<SpeechOptions> = {}) {
  const speech = createSpeech({ cacheDir, log: silentLogger, outgoing, credentials, ...options })
  stopping.push(() => speech.stop())
  return speech
}

const outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger })
afterAll(() => outgoing.close())
/** Two accounts have their own credentials for the vendor `paid`. */
const credentials: SpeechCredentials = {
  find: async ({ account_sid, vendor, label }) =>
    vendor === 'paid' && (account_sid === 'a' || account_sid === 'c')
      ? { settings: { api_key: account_sid === 'a' ? 'k' : 'wrong', label }, owner: account_sid }
      : undefined,
}

const request = (text: string, more: Partial<SpeechRequest> = {}): SpeechRequest => ({
  account_sid: 'a',
  text,
  vendor: null,
  language: null,
  voice: null,
  label: null,
  ...more,
})

describe('the embedded voice', () => {
  it('speaks: a WAV file of the right length that is not silent', { timeout: 60_000 }, async () => {
    const clip = await makeSpeech().synthesize(request('Hello, and welcome. Please enter four digits.'))
    const file = await readFile(clip.path)
    expect(file.toString('latin1', 0, 4)).toBe('RIFF')
    expect(file.readUInt32LE(24)).toBe(8000)
    const samples = new Int16Array(file.buffer, file.byteOffset + 44, (file.length - 44) / 2)
    const seconds = samples.length / 8000
    expect(seconds).toBeGreaterThan(2)
    expect(seconds).toBeLessThan(6)
    expect(samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)).toBeGreaterThan(3000)
    expect(clip.fallback).toBe(false)
    clip.release()
  })

  it.each(['...', '', '日本', '-voice slt -lv', '😀'])(
    'treats %j as plain text',
    { timeout: 60_000 },
    async (text) => {
      const clip = await makeSpeech().synthesize(request(text))
      expect((await readFile(clip.path)).length).toBeGreaterThan(44)
      clip.release()
    },
  )

  it('leaves nothing in its scratch directory', { timeout: 60_000 }, async () => {
    const clip = await makeSpeech().synthesize(request('Hello.'))
    clip.release()
    expect(await readdir(join(cacheDir, 'speech-scratch'))).toEqual([])
  })

  it('holds no handle of its scratch directory after a text', { timeout: 60_000 }, async (context) => {
    const handles = '/proc/self/fd'
    if (!existsSync(handles)) return context.skip('the system does not list open files')
    const speech = makeSpeech()
    for (let count = 0; count < 200; count += 1) (await speech.synthesize(request(`${count}.`))).release()
    const links = await Promise.all(
      (await readdir(handles)).map((handle) => readlink(join(handles, handle)).catch(() => '')),
    )
    expect(links.filter((link) => link.startsWith(join(cacheDir, 'speech-scratch')))).toEqual([])
  })

  it('names the disk, and not the voice, while the disk is full, and keeps no half of a clip', async (context) => {
    const volume = mountVolume(cacheDir, '256k')
    if (typeof volume === 'string') return context.skip(volume)
    try {
      const speech = makeSpeech()
      await speech.start()
      const fill = (bytes: number) => writeFile(join(cacheDir, 'fill'), Buffer.alloc(bytes))
      await expect(fill(1_000_000)).rejects.toMatchObject({ code: 'ENOSPC' })
      const full = { code: 'disk_full', message: 'the disk with the data directory is full' }
      await expect(speech.synthesize(request('Hello.'))).rejects.toMatchObject(full)
      await fill(200_000)
      const sound = { sampleRate: 8000, bytes: Buffer.alloc(100_000, 1) }
      const keep = () => speech.cache.keep('sound', 'a', async () => sound)
      await expect(keep()).rejects.toMatchObject(full)
      await fill(0)
      expect((await keep()).bytes).toHaveLength(100_000)
    } finally {
      volume.unmount()
    }
  })

  it('lets accounts take turns, and none of them the whole line', { timeout: 60_000 }, async () => {
    const speech = makeSpeech()
    const order: string[] = []
    const failures: unknown[] = []
    const say = (account_sid: string, count: number): Promise<void> =>
      actingFor(account_sid, () =>
        speech.synthesize(request(`${account_sid} ${count}.`, { account_sid })),
      ).then(
        (clip) => {
          order.push(account_sid)
          clip.release()
        },
        (error: unknown) => void failures.push(error),
      )
    const many = Array.from({ length: 80 }, (_, count) => say('a', count))
    await until('some to be refused', () => failures.length > 0)
    expect(failures[0]).toMatchObject({ code: 'account_share' })
    const before = order.length
    await say('b', 0)
    expect(order).toContain('b')
    // The text that was being spoken, and one turn of the other account.
    expect(order.length - before).toBeLessThanOrEqual(3)
    await speech.stop()
    await Promise.all(many)
  })

  it('says a short text while long ones of the same account go on', { timeout: 60_000 }, async () => {
    const speech = makeSpeech()
    const order: string[] = []
    const say = async (name: string, text: string, voice: string): Promise<void> => {
      const clip = await actingFor('a', () => speech.synthesize(request(text, { voice })))
      order.push(name)
      clip.release()
    }
    const sentence = 'This is one of many sentences of a text that takes a while to be spoken.'
    const long = ['kal', 'slt', 'rms'].map((voice, index) =>
      say('long', `${index}. ${`${sentence} `.repeat(11)}`, voice),
    )
    for (let count = 0; count < 3; count += 1) await say('short', `Hello, number ${count}.`, 'awb')
    expect(order).toEqual(['short', 'short', 'short'])
    await Promise.all(long)
    expect(order).toHaveLength(6)
  })

  it(
    'gives up on a thread that does not answer, and speaks the next text with a new one',
    { timeout: 60_000 },
    async () => {
      const clock = createFakeClock()
      const speech = makeSpeech({ clock })
      const stuck = speech.synthesize(request('This will take too long.'))
      const outcome = stuck.then(
        () => 'spoken',
        (error: unknown) => error,
      )
      // The time limit of a text starts only when the text has reached the voice.
      await until('the time of the text to run', () => clock.pending > 0)
      clock.advance(20_000)
      expect(await outcome).toMatchObject({ code: 'speech_failed', message: 'the voice took too long' })
      const clip = await speech.synthesize(request('This will not.'))
      clip.release()
    },
  )
})

describe('synthesize', () => {
  it.each([
    ['the vendor is asked for', { vendor: 'scripted', voice: 'bob', language: 'en-GB' }, 'bob', false],
    ['nothing is asked for', {}, 'ada', false],
    [
      'the vendor is not there',
      { vendor: 'google', voice: 'en-US-Standard-C', language: 'en-US' },
      'ada',
      true,
    ],
    ['the voice is not there', { vendor: 'scripted', voice: 'eve' }, 'ada', true],
    ['the language is not spoken', { vendor: 'scripted', language: 'de-DE' }, 'ada', true],
  ] satisfies [string, Partial<SpeechRequest>, string, boolean][])(
    'chooses a voice when %s, and says when it is a stand-in',
    async (_what, more, voice, fallback) => {
      const { said, makers } = scripted()
      const clip = await makeSpeech({ makers }).synthesize(request('hello', more))
      expect(clip).toMatchObject({ fallback, isVendorMissing: request('', more).vendor === 'google' })
      expect(said).toEqual([{ text: 'hello', isSsml: false, voice, language: request('', more).language }])
    },
  )

  it('says the same text once, also when two calls want it at the same time and after a restart', async () => {
    const { said, makers } = scripted()
    const speech = makeSpeech({ makers })
    const [one, two] = await Promise.all([speech.synthesize(request('hi')), speech.synthesize(request('hi'))])
    expect(one.path).toBe(two.path)
    const later = await makeSpeech({ makers }).synthesize(request('hi'))
    expect(later.path).toBe(one.path)
    expect(said).toHaveLength(1)
  })

  it('says it again when the cached file has gone', async () => {
    const { said, makers } = scripted()
    const speech = makeSpeech({ makers })
    const clip = await speech.synthesize(request('hi'))
    clip.release()
    await rm(clip.path)
    const again = await speech.synthesize(request('hi'))
    expect((await readFile(again.path)).length).toBe(48)
    expect(said).toHaveLength(2)
  })

  it('joins the pieces of a long text and the pauses of SSML in one file', async () => {
    const { said, makers } = scripted()
    const clip = await makeSpeech({ makers }).synthesize(request('<speak>ab<break time="10ms"/>cde</speak>'))
    expect(said.map(({ text }) => text)).toEqual(['ab', 'cde'])
    const file = await readFile(clip.path)
    expect(file.readUInt32LE(40)).toBe(2 * (2 + 80 + 3))
    expect(file.length).toBe(44 + 2 * (2 + 80 + 3))
  })

  it('hands a failure to everybody who waits, keeps no file, and tries again the next time', async () => {
    const voice = scripted({ fails: true })
    const speech = makeSpeech({ makers: voice.makers })
    await expect(speech.synthesize(request('hi'))).rejects.toThrow('no voice today')
    expect(await readdir(join(cacheDir, 'speech'))).toEqual([])
    voice.script.fails = false
    const clip = await speech.synthesize(request('hi'))
    clip.release()
  })

  it('refuses a text beyond its length', async () => {
    const { makers } = scripted()
    await expect(makeSpeech({ makers }).synthesize(request('x'.repeat(10_001)))).rejects.toMatchObject({
      code: 'speech_failed',
    })
  })

  it('ends with the reason of its signal while the others go on waiting', async () => {
    let letOn = (): void => {}
    const { makers } = scripted({ wait: new Promise((resolve) => (letOn = resolve)) })
    const speech = makeSpeech({ makers })
    const controller = new AbortController()
    const cut = speech.synthesize(request('hi', { signal: controller.signal }))
    const other = speech.synthesize(request('hi'))
    controller.abort(new Error('hung up'))
    await expect(cut).rejects.toThrow('hung up')
    letOn()
    ;(await other).release()
  })
})

describe('a vendor that needs a credential', () => {
  function twoVendors() {
    const embedded = scripted()
    const paid = scripted({ needsCredential: true, name: 'paid' })
    const speech = makeSpeech({ makers: [() => embedded.vendor, () => paid.vendor] })
    return { embedded, paid, speech }
  }

  it('speaks with the one of the account', async () => {
    const { embedded, paid, speech } = twoVendors()
    const clip = await speech.synthesize(request('hi', { vendor: 'paid', label: 'l' }))
    expect(clip).toMatchObject({ fallback: false })
    expect(clip).not.toHaveProperty('note')
    expect(paid.paidWith).toEqual([{ api_key: 'k', label: 'l' }])
    expect(embedded.said).toEqual([])
  })

  it('is asked for an account although it spoke the same words for another: no account hears speech that another paid for', async () => {
    const { paid, speech } = twoVendors()
    const one = await speech.synthesize(request('hi', { vendor: 'paid' }))
    paid.script.fails = true
    const stranger = request('hi', { vendor: 'paid', account_sid: 'c' })
    await expect(speech.synthesize(stranger)).rejects.toThrow('no voice today')
    expect(paid.paidWith).toMatchObject([{ api_key: 'k' }, { api_key: 'wrong' }])
    paid.script.fails = false
    const other = await speech.synthesize(stranger)
    expect(other.path).not.toBe(one.path)
  })

  it('is asked once for the same words by credentials of one owner', async () => {
    const { paid, speech } = twoVendors()
    const one = await speech.synthesize(request('hi', { vendor: 'paid', label: 'l' }))
    const other = await speech.synthesize(request('hi', { vendor: 'paid', label: 'm' }))
    expect(other.path).toBe(one.path)
    expect(paid.said).toHaveLength(1)
    const german = await speech.synthesize(request('hi', { vendor: 'paid', language: 'en-GB' }))
    expect(german.path).not.toBe(one.path)
  })

  it.each([
    ['without one', { account_sid: 'b', vendor: 'paid' }, 'there is no credential for paid'],
    ['not known', { vendor: 'unknown' }, 'unknown is not a vendor that can speak here'],
  ])('is stood in for by the embedded voice when %s, which says so', async (_what, more, note) => {
    const { embedded, paid, speech } = twoVendors()
    const clip = await speech.synthesize(request('hi', { ...more, voice: 'bob' }))
    expect(clip).toMatchObject({ fallback: true, isVendorMissing: true, note: expect.stringContaining(note) })
    expect(embedded.said).toMatchObject([{ voice: 'ada' }])
    expect(paid.said).toEqual([])
  })

  it('that fails fails the request: the application has a fallback of its own', async () => {
    const { embedded, paid, speech } = twoVendors()
    paid.script.fails = true
    await expect(speech.synthesize(request('hi', { vendor: 'paid' }))).rejects.toThrow('no voice today')
    expect(embedded.said).toEqual([])
  })
})

describe('SSML', () => {
  it('is handed over whole to a vendor that takes it', async () => {
    const { said, vendor } = scripted()
    const synthesizer = { ...vendor.synthesizer!, takesSsml: true }
    const speech = makeSpeech({ makers: [() => ({ ...vendor, synthesizer })] })
    await speech.synthesize(request(' <speak>a<break/>b</speak>'))
    await speech.synthesize(request('<speaker>'))
    expect(said).toMatchObject([
      { text: '<speak>a<break/>b</speak>', isSsml: true },
      { text: '<speaker>', isSsml: false },
    ])
  })
})

describe('the cache', () => {
  const files = async (): Promise<string[]> => (await readdir(join(cacheDir, 'speech'))).sort()

  it('keeps to its bytes, drops what was used longest ago and never what is in use', async () => {
    const { makers } = scripted()
    const speech = makeSpeech({ makers, maxCacheBytes: 120 })
    const first = await speech.synthesize(request('1'))
    const second = await speech.synthesize(request('22'))
    const third = await speech.synthesize(request('333'))
    expect(await files()).toHaveLength(3)
    second.release()
    first.release()
    third.release()
    await until('one to be dropped', async () => (await files()).length === 2)
    const left = await files()
    expect(left.some((name) => second.path.endsWith(name))).toBe(false)
  })

  it('forgets the half-written files of a killed process and bounds what it left', async () => {
    const directory = join(cacheDir, 'speech')
    await mkdir(directory)
    await writeFile(join(directory, 'half.wav.part'), 'x')
    await writeFile(join(directory, 'old.wav'), Buffer.alloc(100))
    await writeFile(join(directory, 'new.wav'), Buffer.alloc(100))
    await utimes(join(directory, 'old.wav'), 1, 1)
    const { makers } = scripted()
    await makeSpeech({ makers, maxCacheBytes: 150 }).start()
    await until('what is left', async () => (await files()).join() === 'new.wav')
  })
})
