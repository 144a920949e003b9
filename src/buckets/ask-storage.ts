// One request to a storage service, bounded in time and bytes. Every failure becomes a sentence with the vendor's
// reason, without the secrets that it may have repeated.
import { Readable } from 'node:stream'
import type { Clock, Timer } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { readJson } from '../lib/read-json.ts'
import { streamAnswer, type StreamedAnswer } from '../outgoing/stream.ts'
import { toVendorError, vendorRefusal } from '../outgoing/vendor-failure.ts'
import type { BucketRequest, BucketVendorOptions } from './vendor.ts'

const answerTimeoutMs = 10_000
const stallTimeoutMs = 20_000
// Enough for a recording over a slow line. A longer upload may take as long as the audio of a WAV file lasts.
const leastTotalMs = 3_600_000
const soundBytesPerMs = 32
// The largest WAV file: its header counts in 32 bits.
const maxObjectBytes = 2 ** 32
// The most that is read of a response that is not a recording.
const maxDocumentBytes = 64 * 1024

/**
 * Returns a good response; its body must be read or destroyed. Throws AppError not_found, bucket_failed, overloaded.
 */
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
  // The status is known; as much of the body is read as can be.
  const body = await readStart(answer.body).catch(() => Buffer.alloc(0))
  signal?.throwIfAborted()
  if (status === 404 && looksForObject[request.method] && !isAboutBucket(body))
    throw new AppError('not_found', 'no such object in the bucket')
  throw vendorRefusal('bucket_failed', { vendor, status, contentType, body, secrets })
}

/** Returns the total length from a Content-Range, if the storage gives it (RFC 9110 §14.4). */
function lengthIn(range: unknown): string | undefined {
  return typeof range === 'string' && /^bytes \*\/\d{1,15}$/.test(range) ? range : undefined
}

/** Watches an upload: each piece of the body has a time limit, and so has the response after the last piece. */
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

/** Reads the start of a response, which should have only a few lines. Throws the error of the body if it fails. */
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
  const document = await readStart(body)
  try {
    return readJson(document)
  } catch (cause) {
    throw new AppError('bucket_failed', `${vendor} responded with damaged JSON`, { cause })
  }
}

// An object to be written need not exist before.
const looksForObject = { GET: true, DELETE: true, PUT: false, POST: false }

/** Reports whether a 404 is about the bucket, by the codes of S3 and Azure and the sentence of Google. */
function isAboutBucket(body: Buffer): boolean {
  return /<Code>(NoSuchBucket|ContainerNotFound)<|specified bucket does not exist/.test(body.toString('utf8'))
}
