// The recording of a call: an object in the bucket of its account, or a file on the disk.
import type { BucketCredential, BucketJob } from '../../buckets/vendor.ts'
import type { StoredRecording } from '../../contracts/recording.ts'
import { AppError } from '../../lib/errors.ts'
import type { Row } from '../../storage/storage.ts'
import { bytes } from '../define/reply-fields.ts'
import { defineRoute, everyone } from '../define/route.ts'
import { demandCall, type Reading } from './journal.ts'

const path = '/Accounts/{AccountSid}/RecentCalls/{CallSid}/record/{Year}/{Month}/{Day}/{Format}'
const parameters = {
  CallSid: 'The `call_sid` of the call.',
  Year: 'The year in which the call began, in UTC: four digits.',
  Month: 'Two digits.',
  Day: 'Two digits.',
  Format: '`mp3` or `wav`.',
}

export const getRecording = defineRoute({
  method: 'GET',
  path,
  parameters,
  access: everyone,
  operationId: 'getRecording',
  tag: 'RecentCalls',
  summary: 'The recording of a call, from the bucket of the account or the disk of the platform.',
  description:
    'The object `{Year}/{Month}/{Day}/{CallSid}.{Format}`, or the one that `record` of a `conference` has named, as it is in the bucket. With a header `Range` of one part, the response is 206 with that part, or 416 if there is no such part. If the bucket fails meanwhile, the response is cut off.',
  reply: {
    status: 200,
    description: 'The sound.',
    body: bytes('audio/mpeg'),
    mediaType: 'audio/mpeg',
    otherMediaTypes: ['audio/wav'],
  },
  errors: ['not_found', 'recording_not_stored', 'range_not_satisfiable', 'bucket_failed'],
  async handle({ account, params, caller, services, whenGone, head, headers }) {
    const { key, kept, format, ...found } = await find(account, params, { caller, services })
    // RFC 9110 §13.1.5: no validator was sent that could match, so a request with If-Range gets the whole.
    const wanted = headers['if-range'] === undefined ? rangeIn(headers['range']) : undefined
    const { body, bytes, range } =
      kept === undefined
        ? await services.buckets.get(key, { ...jobOf(found), signal: whenGone() }, wanted)
        : await services.recordings.read(kept, wanted)
    // RFC 3003: the registered name of MP3.
    head.header('content-type', format === 'mp3' ? 'audio/mpeg' : `audio/${format}`)
    head.header('accept-ranges', 'bytes')
    if (bytes !== undefined) head.header('content-length', String(bytes))
    if (range !== undefined) {
      head.code(206)
      head.header('content-range', range)
    }
    return body
  },
})

export const removeRecording = defineRoute({
  method: 'DELETE',
  path,
  parameters,
  access: everyone,
  operationId: 'deleteRecording',
  tag: 'RecentCalls',
  summary: 'Removes the recording of a call from the bucket of the account, or the disk of the platform.',
  reply: { status: 204, description: 'Removed.' },
  errors: ['not_found', 'recording_not_stored', 'bucket_failed'],
  async handle({ account, params, caller, services }) {
    const { key, kept, stored, ...found } = await find(account, params, { caller, services })
    // Completed even if the client leaves, as every change is: after a half removal it would be unknown whether it took
    // place.
    if (kept !== undefined) await services.recordings.remove(kept)
    else await services.buckets.remove(key, jobOf(found))
    if (kept === undefined && stored !== undefined) await services.recordings.forget(stored)
    const { account_sid, service_provider_sid } = account
    const owner = { account_sid, service_provider_sid }
    await services.storage.audit.note({ ...owner, action: 'delete', resource: 'recordings', sid: key })
    services.log.info({ account_sid, key }, 'recording removed')
  },
})

type Format = 'mp3' | 'wav'

interface RecordingPath {
  readonly CallSid: string
  readonly Year: string
  readonly Month: string
  readonly Day: string
  readonly Format: string
}

interface Found extends Bucket {
  readonly key: string
  readonly format: Format
  /** The stored recording; undefined for an object that the account has put there by itself. */
  readonly stored: StoredRecording | undefined
  /** The same, if it is not in a bucket. */
  readonly kept: StoredRecording | undefined
}

type Bucket = Pick<Row<'accounts'>, 'account_sid' | 'bucket_credential'>

async function find(
  { account_sid, bucket_credential }: Row<'accounts'>,
  params: RecordingPath,
  reading: Reading,
): Promise<Found> {
  const { CallSid: call_sid } = params
  await demandCall({ account_sid, call_sid }, reading)
  const day = dayOf(params)
  const format = formatOf(params)
  const usual = `${day}/${call_sid}.${format}`
  const recording = await reading.services.recordings.find(account_sid, call_sid)
  // A recording that an application has placed elsewhere is found by the same URL.
  const isMeant = recording?.key === usual || (recording?.format === format && !isOfDay(recording))
  const stored = isMeant ? recording : undefined
  const key = stored?.key ?? usual
  if (stored !== undefined) demandStored(stored)
  const kept = stored?.place === 'disk' ? stored : undefined
  return { key, format, stored, kept, account_sid, bucket_credential }
}

function isOfDay({ key }: StoredRecording): boolean {
  return /^\d{4}\/\d{2}\/\d{2}\//.test(key)
}

function demandStored({ state, reason }: StoredRecording): void {
  if (state === 'stored') return
  if (state === 'failed')
    throw new AppError('not_found', `the call has no recording: ${reason ?? 'it failed'}`)
  if (state === 'expired') throw new AppError('not_found', 'the recording has expired')
  throw new AppError('recording_not_stored', 'the recording is not stored yet')
}

function jobOf({ account_sid, bucket_credential }: Bucket): BucketJob {
  if (bucket_credential === null)
    throw new AppError(
      'not_found',
      'the platform has no recording of this call, and the account has no bucket',
      {
        cure: 'If it was stored in a bucket, set bucket_credential of the account.',
      },
    )
  return { account_sid, credential: JSON.parse(bucket_credential) as BucketCredential }
}

/** Returns one part, by its first and last byte; any other Range counts as none (RFC 9110 §14.1.1, §14.2). */
function rangeIn(range: string | readonly string[] | undefined): string | undefined {
  if (typeof range !== 'string') return undefined
  const found = /^bytes=(?:(\d{1,15})-(\d{0,15})|-\d{1,15})$/.exec(range)
  if (found === null) return undefined
  const [, first, last] = found
  return first !== undefined && last !== '' && Number(first) > Number(last) ? undefined : range
}

function dayOf({ Year, Month, Day }: RecordingPath): string {
  const day = `${Year}-${Month}-${Day}`
  const at = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : NaN
  if (Number.isNaN(at))
    throw new AppError('bad_request', 'Year, Month and Day must be a date of four, two and two digits')
  return `${Year}/${Month}/${Day}`
}

function formatOf({ Format }: RecordingPath): Format {
  const format = Format.toLowerCase()
  if (format === 'mp3' || format === 'wav') return format
  throw new AppError('bad_request', 'Format must be mp3 or wav')
}
