// One request to a storage: bounded in time and bytes, and every failure a sentence that says what the vendor said,
// without the secrets it may have repeated.
import { Readable } from 'node:stream'
import type { Clock, Timer } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { streamAnswer } from '../outgoing/stream.ts'
import type { StreamedAnswer } from '../outgoing/stream.ts'
import { toVendorError, vendorRefusal } from '../outgoing/vendor-failure.ts'
import type { BucketRequest, BucketVendorOptions } from './vendor.ts'

const answerTimeoutMs = 10_000
const stallTimeoutMs = 20_000
// A recording over a slow line. One that is longer may take as long as the sound of a WAV file lasts.
const leastTotalMs = 3_600_000
const soundBytesPerMs = 32
// No WAV file is longer: its header counts in 32 bits.
const maxObjectBytes = 2 ** 32
// The most that is read of a response that is no recording.
const maxDocumentBytes = 64 * 1024

/** An answer of success, whose body is to be read or destroyed. Throws AppError not_found, bucket_failed or overloaded. */
export async function askStorage(
  { outgoing, clock }: BucketVendorOptions,
  vendor: string,
  { secrets, ...request }: BucketRequest,
  signal: AbortSignal | undefined,
): Promise<StreamedAnswer> {
  const upload = watchUpload(request.body, vendor, clock)
  const totalTimeoutMs = Math.max(leastTotalMs, (upload?.body.bytes ?? 0) / soundBytesPerMs)
  const signals = [signal, upload?.signal].filter((one) => one !== undefined)
  const answer = await streamAnswer(outgoing, clock, {
    ...request,
    ...(upload && { body: upload.body }),
    subject: vendor,
    ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
    answerTimeoutMs: upload === undefined ? answerTimeoutMs : totalTimeoutMs,
    stallTimeoutMs,
    totalTimeoutMs,
    maxBodyBytes: maxObjectBytes,
    toFailure: (error) => toVendorError('bucket_failed', error),
  }).finally(() => upload?.stop())
  const { status } = answer
  if (status >= 200 && status < 300) return answer
  if (status === 416) {
    answer.body.destroy()
    throw new AppError('range_not_satisfiable', 'the recording has no such part', {
      contentRange: lengthIn(answer.headers['content-range']),
    })
  }
  const contentType = String(answer.headers['content-type'] ?? '').toLowerCase()
  // Its status is known; of the rest, what can be had.
  const body = await readStart(answer.body).catch(() => Buffer.alloc(0))
  signal?.throwIfAborted()
  if (status === 404 && looksForObject[request.method] && !isAboutBucket(body))
    throw new AppError('not_found', 'no such object in the bucket')
  throw vendorRefusal('bucket_failed', { vendor, status, contentType, body, secrets })
}

/** How long all of it is, where the storage says so (RFC 9110 §14.4). */
function lengthIn(range: unknown): string | undefined {
  return typeof range === 'string' && /^bytes \*\/\d{1,15}$/.test(range) ? range : undefined
}

/** A body that is long on its way must go on: each piece of it has its time, and so has the answer after the last. */
function watchUpload(body: BucketRequest['body'], vendor: string, clock: Clock) {
  if (typeof body !== 'object' || !('open' in body)) return undefined
  const stalled = new AbortController()
  let timer: Timer | undefined
  const wait = (): void => {
    timer?.cancel()
    timer = clock.after(stallTimeoutMs, () =>
      stalled.abort(new AppError('hook_timeout', `${vendor} took no more of the recording`)),
    )
  }
  wait()
  return {
    signal: stalled.signal,
    body: {
      bytes: body.bytes,
      open: () => Readable.from(watched(body.open(), wait), { objectMode: false }),
    },
    stop: () => timer?.cancel(),
  }
}

async function* watched(source: Readable, wait: () => void): AsyncGenerator<Buffer> {
  for await (const piece of source) {
    wait()
    yield piece as Buffer
  }
  wait()
}

/** Reads an answer of a few lines, and no more than that. Throws what the body fails with. */
export async function readStart(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= maxDocumentBytes) break
  }
  return Buffer.concat(chunks).subarray(0, maxDocumentBytes)
}

export async function readDocument({ body }: StreamedAnswer, vendor: string): Promise<unknown> {
  const text = (await readStart(body)).toString('utf8')
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AppError('bucket_failed', `${vendor} responded with damaged JSON`, { cause })
  }
}

// An object that is written need not be there before.
const looksForObject = { GET: true, DELETE: true, PUT: false, POST: false }

/** The codes of S3 and Azure, and the sentence of Google: 404 is about the object, or about all there is. */
function isAboutBucket(body: Buffer): boolean {
  return /<Code>(NoSuchBucket|ContainerNotFound)<|specified bucket does not exist/.test(body.toString('utf8'))
}
