// Amazon Transcribe over its WebSocket: a signed address, and messages in the event stream encoding.
import { AppError } from '../../lib/errors.ts'
import { systemClock } from '../../lib/clock.ts'
import { listOf, memberOf, textOf } from '../../lib/members.ts'
import { readJson, UnreadableJson } from '../../lib/read-json.ts'
import { readLentKeys, roleForm } from '../../outgoing/assume-role.ts'
import { decodeEvent, encodeEvent } from '../../outgoing/event-stream.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import { signForAws, type AwsKeys } from '../../outgoing/sign-aws.ts'
import type { RecognitionOrder } from '../../contracts/recognition.ts'
import { numberOf } from './alternatives.ts'
import { askVendor } from './ask-vendor.ts'
import type { Dialect, Heard, HeardWords, VendorOfEars } from './dialect.ts'
import { addQuery } from './vendor-options.ts'

/** Returns the address of a region's service; tests pass their own. */
export type AwsPlace = (region: string, service: 'sts' | 'transcribestreaming') => string

// The WebSockets of Transcribe have their own port.
const inAws: AwsPlace = (region, service) =>
  `https://${service}.${region}.amazonaws.com${service === 'transcribestreaming' ? ':8443' : ''}`

// A stream ends after fifteen seconds without audio, and after four hours.
const keepAliveMs = 8000
const maxSessionMs = 235 * 60_000
const bytesOfSample = 2

const parameters: Readonly<Record<string, string>> = {
  vocabularyName: 'vocabulary-name',
  vocabularyFilterName: 'vocabulary-filter-name',
  vocabularyFilterMethod: 'vocabulary-filter-method',
  filterMethod: 'vocabulary-filter-method',
  languageModelName: 'language-model-name',
}

export const aws: VendorOfEars = createAws()

export function createAws(at: AwsPlace = inAws): VendorOfEars {
  return {
    name: 'aws',
    dialectOf(order): Dialect {
      const keys = keysOf(order)
      const region = regionOf(order)
      return {
        url: async (outgoing) =>
          addressOf(order, { at, region, keys: await lent(order, { at, region, keys, outgoing }) }),
        headers: {},
        rate: order.side.rate,
        first: [],
        encode: audioEvent,
        hear: heardIn,
        // A message without audio would end the stream; one sample is too short to be heard.
        keepAlive: { frame: audioEvent(new Uint8Array(bytesOfSample)), everyMs: keepAliveMs },
        end: () => [audioEvent(new Uint8Array(0))],
        maxSessionMs,
      }
    },
  }
}

function audioEvent(audio: Uint8Array): Uint8Array {
  return encodeEvent({
    headers: {
      ':content-type': 'application/octet-stream',
      ':event-type': 'AudioEvent',
      ':message-type': 'event',
    },
    payload: Buffer.from(audio),
  })
}

function keysOf({ settings, vendorOptions }: RecognitionOrder): AwsKeys {
  const accessKeyId = textOf(vendorOptions, 'accessKey') ?? textOf(settings, 'access_key_id')
  const secretAccessKey = textOf(vendorOptions, 'secretKey') ?? textOf(settings, 'secret_access_key')
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new AppError('recognizer_unknown', 'the credential of aws has no access keys')
  const sessionToken = textOf(vendorOptions, 'securityToken')
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) }
}

/** Returns the region, which becomes a part of a host name. */
function regionOf({ settings, vendorOptions }: RecognitionOrder): string {
  const region = textOf(vendorOptions, 'region') ?? textOf(settings, 'aws_region')
  if (region === undefined || !/^[a-z0-9-]{1,40}$/i.test(region))
    throw new AppError('recognizer_unknown', 'the credential of aws has no region')
  return region.toLowerCase()
}

interface Asking {
  readonly at: AwsPlace
  readonly region: string
  readonly keys: AwsKeys
}

/** Returns the keys that a role lends, if the credential has one and the verb brings no keys. */
async function lent(
  { settings, vendorOptions }: RecognitionOrder,
  { at, region, keys, outgoing }: Asking & { readonly outgoing: Outgoing },
): Promise<AwsKeys> {
  const role = textOf(settings, 'role_arn')
  if (role === undefined || textOf(vendorOptions, 'accessKey') !== undefined) return keys
  const body = roleForm(role)
  const { url, headers } = await signForAws(systemClock, keys, {
    service: 'sts',
    region,
    method: 'POST',
    url: `${at(region, 'sts')}/`,
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
    body,
  })
  const lentKeys = readLentKeys(await askVendor(outgoing, { vendor: 'aws', url, headers, body }))
  if (lentKeys === undefined) throw new AppError('recognition_failed', 'aws returned no keys for the role')
  return lentKeys.keys
}

async function addressOf(order: RecognitionOrder, { at, region, keys }: Asking): Promise<string> {
  const { language, altLanguages, vendorOptions, model, side } = order
  const url = new URL(`${at(region, 'transcribestreaming')}/stream-transcription-websocket`)
  const query = url.searchParams
  if (altLanguages.length === 0) query.set('language-code', language)
  else {
    query.set('identify-language', 'true')
    query.set('language-options', [language, ...altLanguages].join(','))
    query.set('preferred-language', language)
  }
  query.set('media-encoding', 'pcm')
  query.set('sample-rate', String(side.rate))
  // Its finals come late, and stable partials stand in for them.
  query.set('enable-partial-results-stabilization', 'true')
  query.set('partial-results-stability', 'high')
  if (model !== undefined) query.set('language-model-name', model)
  addQuery(query, vendorOptions, parameters)
  const types = listOf(vendorOptions, 'piiEntityTypes').filter((one) => typeof one === 'string')
  const isNoted = memberOf(vendorOptions, 'piiIdentifyEntities') === true
  if (types.length > 0 || isNoted)
    query.set(isNoted ? 'content-identification-type' : 'content-redaction-type', 'PII')
  if (types.length > 0) query.set('pii-entity-types', types.join(','))
  query.set('X-Amz-Expires', '300')
  const signed = await signForAws(systemClock, keys, {
    service: 'transcribe',
    region,
    method: 'GET',
    url: url.href,
    signQuery: true,
  })
  return signed.url.replace(/^http/, 'ws')
}

function heardIn(message: string | Buffer): readonly Heard[] {
  const event = typeof message === 'string' ? undefined : decodeEvent(message)
  if (event === undefined) throw new UnreadableJson('is damaged')
  const said = readJson(event.payload)
  const { headers } = event
  if (headers[':message-type'] === 'exception') {
    const type = headers[':exception-type'] ?? ''
    const because = textOf(said, 'Message') ?? type
    // A stream without audio is a bad request, too.
    const isFinal = /BadRequest|LimitExceeded|AccessDenied/.test(type) && !/timed out/i.test(because)
    return [{ type: 'failed', because, isFinal }]
  }
  return listOf(said, 'Transcript', 'Results').map((result) => wordsIn(result, said))
}

function wordsIn(result: unknown, evt: unknown): HeardWords {
  const confidences = listOf(result, 'Alternatives', 0, 'Items').flatMap(
    (item) => numberOf(item, 'Confidence') ?? [],
  )
  const startMs = numberOf(result, 'StartTime')
  const endMs = numberOf(result, 'EndTime')
  return {
    type: 'words',
    text: textOf(result, 'Alternatives', 0, 'Transcript') ?? '',
    isFinal: memberOf(result, 'IsPartial') === false,
    confidence: confidences.reduce((sum, one) => sum + one, 0) / Math.max(1, confidences.length),
    language: textOf(result, 'LanguageCode'),
    startMs: startMs === undefined ? undefined : startMs * 1000,
    endMs: endMs === undefined ? undefined : endMs * 1000,
    evt,
  }
}
