// The errors for refusals of vendors: a sentence with the vendor's own reason, without the secrets that it may have
// repeated.
import { AppError, type ErrorCode } from '../lib/errors.ts'
import { textOf } from '../lib/members.ts'
import { readJson } from '../lib/read-json.ts'

/** The catalogue code for failures of a kind of vendor. */
export type VendorCode = 'speech_failed' | 'bucket_failed'

export interface VendorRefusal {
  /** The name of the vendor in sentences. */
  readonly vendor: string
  readonly status: number
  /** The content type in lower case. */
  readonly contentType: string
  readonly body: Buffer
  readonly secrets: readonly string[]
}

const maxReasonLength = 200
// A longer body is not a sentence, and not worth a search.
const maxReadBytes = 64 * 1024

/** Returns the error for a response whose status is not one of success. */
export function vendorRefusal(code: VendorCode, refusal: VendorRefusal): AppError {
  const { vendor, status, secrets } = refusal
  const reason = toReason(sentenceIn(refusal), secrets)
  const said = reason === '' ? `status ${status}` : `status ${status}: ${reason}`
  if (status === 401 || status === 403)
    return new AppError(code, `${vendor} refused the credential (${said})`, {
      cure: 'Check the key of the credential, and what the vendor lets it do.',
    })
  if (status === 429)
    return new AppError(code, `${vendor} refuses more requests for now (${said})`, {
      cure: 'Raise the quota at the vendor, or ask for less at once.',
    })
  return new AppError(code, `${vendor} responded with ${said}`)
}

// The cures of the catalogue are about hooks. For a code that is not listed here, the cure of the vendor's own code is
// used.
const cures: ReadonlyMap<ErrorCode, string> = new Map([
  ['hook_bad_url', 'Give an absolute http or https address without a user name or password in it.'],
  ['hook_unreachable', 'Check that the address of the vendor is right and answers from this machine.'],
  [
    'hook_refused_address',
    'Add the network to SWITCHHOOK_WEBHOOK_ALLOW if the vendor is meant to be inside.',
  ],
  ['hook_timeout', 'Try again; when it stays so, ask the vendor.'],
])

/** Turns the HTTP client's errors, which are about hooks, into errors about the vendor. */
export function toVendorError<E>(code: VendorCode, error: E): E | AppError {
  if (!(error instanceof AppError) || !error.code.startsWith('hook_')) return error
  const cure = cures.get(error.code)
  return new AppError(code, error.message, { cause: error, ...(cure === undefined ? {} : { cure }) })
}

/** Returns a sentence of the vendor on one line, shortened, without any of the secrets. */
export function toReason(sentence: string, secrets: readonly string[]): string {
  let shown = onOneLine(sentence)
  for (const secret of secrets.map(onOneLine))
    // A shorter secret would also be found within ordinary words.
    if (secret.length >= 4) shown = shown.replaceAll(secret, '[hidden]')
  return shown.slice(0, maxReasonLength)
}

function onOneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim()
}

/** The places of the sentence in the responses of the vendors. */
const reasonPaths: readonly (readonly (string | number)[])[] = [
  ['error', 'message'],
  ['detail', 'message'],
  ['err_msg'],
  ['message'],
  ['Message'],
  ['error_description'],
  ['detail'],
  ['error'],
  ['msg'],
]

function sentenceIn({ body, contentType }: VendorRefusal): string {
  const text = body.toString('utf8', 0, maxReadBytes)
  if (/\bjson\b/.test(contentType)) {
    try {
      const parsed = readJson(text)
      return reasonPaths.map((path) => textOf(parsed, ...path)).find((found) => found !== undefined) ?? ''
    } catch {
      // The status says enough.
      return ''
    }
  }
  if (/\bxml\b/.test(contentType)) return unescapeXml(/<Message>([^<]*)<\/Message>/.exec(text)?.[1] ?? '')
  return contentType.startsWith('text/plain') ? text : ''
}

const xmlCharacters: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
  '&quot;': '"',
  '&apos;': "'",
}

function unescapeXml(text: string): string {
  return text.replace(/&(lt|gt|amp|quot|apos);/g, (escape) => xmlCharacters[escape] ?? escape)
}
