// The check of speech and bucket credentials: tried as the tests of the API do, without storing the results.
import type { BucketJob } from '../buckets/vendor.ts'
import type { BucketTestResult } from '../buckets/try-bucket.ts'
import { systemTenancy } from '../contracts/caller.ts'
import type { SpeechVendors } from '../speech/speech.ts'
import type { TestResults } from '../speech/try-vendor.ts'
import type { Settings } from '../speech/vendor.ts'
import type { Row } from '../storage/storage.ts'
import { rowsIfAny, type Rows } from './database.ts'
import { bad, findingOf, note, ok, type Check, type Finding } from './doctor.ts'

export interface CredentialsOptions {
  readonly rows: Rows
  /** True if vendors must not be contacted. */
  readonly isOffline: boolean
  readonly limitMs: number
}

export interface SpeechCheckOptions extends CredentialsOptions {
  readonly speech: Pick<SpeechVendors, 'test'>
}

export interface BucketsCheckOptions extends CredentialsOptions {
  readonly test: (job: BucketJob) => Promise<BucketTestResult>
}

// Each try is one or more requests to a vendor, and speech costs money.
const maxTried = 20
const offline = note('Not checked: vendors are not asked with --offline')

export function createSpeechCheck(options: SpeechCheckOptions): Check {
  const tryOne = async (row: Row<'speech_credentials'>): Promise<readonly Finding[]> => {
    const { vendor, label, account_sid, service_provider_sid } = row
    const owner = account_sid === null ? `provider ${service_provider_sid}` : `account ${account_sid}`
    const which = `${vendor}${label === null ? '' : ` (${label})`} of ${owner}`
    const results = await options.speech.test({
      vendor,
      settings: JSON.parse(row.settings) as Settings,
      uses: { tts: row.use_for_tts === 1, stt: row.use_for_stt === 1 },
      signal: AbortSignal.timeout(options.limitMs),
    })
    return (['tts', 'stt'] as const).map((use) => speechFinding(which, use, results))
  }
  return {
    name: 'speech',
    look: () =>
      tryAll(options, {
        none: 'No speech credential is stored: the embedded voice speaks',
        find: async (rows) => rows.speech_credentials.list({ limit: maxTried + 1 }),
        tryOne,
      }),
  }
}

function speechFinding(which: string, use: 'tts' | 'stt', results: TestResults): Finding {
  const { status, reason } = results[use]
  const what = `${use === 'tts' ? 'Speaking' : 'Listening'} with ${which}`
  if (status === 'success') return ok(`${what} works`)
  if (status === 'not tested') return note(`${what} is not checked: it is not in use, or cannot be tried`)
  return bad(`${what} fails: ${reason}`, 'Correct the credential in the portal or by PUT SpeechCredentials.')
}

export function createBucketsCheck(options: BucketsCheckOptions): Check {
  const tryOne = async ({ account_sid, bucket_credential }: Row<'accounts'>): Promise<readonly Finding[]> => {
    const credential = JSON.parse(bucket_credential ?? '{}') as BucketJob['credential']
    const signal = AbortSignal.timeout(options.limitMs)
    const { status, reason } = await options.test({ account_sid, credential, signal })
    const which = `${String(credential['vendor'])} of account ${account_sid}`
    if (status === 'ok') return [ok(`The bucket at ${which} takes, returns and removes an object`)]
    return [bad(`The bucket at ${which} fails: ${reason}`, 'Correct bucket_credential by PUT Accounts.')]
  }
  return {
    name: 'buckets',
    look: () =>
      tryAll(options, {
        none: 'No account has a bucket',
        find: async (rows) => {
          // Filters have no "is not null".
          const accounts = await rows.accounts.list({ limit: 1000 })
          return accounts.filter(({ bucket_credential }) => bucket_credential !== null)
        },
        tryOne,
      }),
  }
}

interface Trial<R> {
  readonly none: string
  readonly find: (rows: ReturnType<NonNullable<Awaited<ReturnType<Rows>>>['for']>) => Promise<readonly R[]>
  readonly tryOne: (row: R) => Promise<readonly Finding[]>
}

async function tryAll<R>(
  { rows, isOffline, limitMs }: CredentialsOptions,
  { none, find, tryOne }: Trial<R>,
): Promise<readonly Finding[]> {
  const look = await rowsIfAny(rows)
  if (look === undefined) return [note('Not checked: credentials are not known without the database')]
  const found = await find(look.for(systemTenancy))
  if (found.length === 0) return [note(none)]
  if (isOffline) return [offline]
  const late = bad(`A vendor did not respond within ${limitMs / 1000} seconds`, 'Try it again.')
  const tried = found
    .slice(0, maxTried)
    .map((row) =>
      tryOne(row).catch((error: unknown) => [
        error instanceof Error && error.name === 'TimeoutError' ? late : findingOf(error),
      ]),
    )
  const findings = (await Promise.all(tried)).flat()
  return found.length > maxTried
    ? [...findings, note(`Not checked: those beyond the first ${maxTried}`)]
    : findings
}
