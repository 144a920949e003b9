// The vendors of speech credentials: the fields of each, and which are required, secret, or changeable.
import { flagAsSent, text } from '../define/fields.ts'
import type { Field, Presence } from '../define/field.ts'

export type Values = Readonly<Record<string, unknown>>

const word = text({ max: 255 })
const key = text({ max: 2048 })
// Hosts, with or without a scheme and a port.
const address = text({ max: 1024, pattern: '^[^\\s\\p{Cc}]*$', rule: 'must be a host or a URL' })
const url = text({
  max: 1024,
  pattern: '^((https?|wss?)://[^\\s\\p{Cc}/?#@][^\\s\\p{Cc}]*)?$',
  rule: 'must be an http, https, ws or wss URL',
})
// A region becomes a part of host names.
const region = text({
  max: 40,
  pattern: '^[A-Za-z0-9-]*$',
  rule: 'must have only letters, digits and hyphens',
})
const jsonText = text({ max: 16_384, anyCharacters: true })
const yesOrNo = flagAsSent()

/** All fields, each once. */
export const settingFields = {
  access_key_id: word.describe('The public half of an AWS key.'),
  api_key: key.describe('The API key of the vendor.'),
  api_uri: address.describe(
    'Another address of the vendor: of another region, or of your own server that speaks its dialect.',
  ),
  auth_token: key.describe('Sent to your own server as the bearer token.'),
  aws_region: region.describe('The AWS region that is used: `us-east-1`.'),
  client_id: word.describe('The name of the client at the vendor.').notServed('the vendor'),
  client_key: key.describe('The secret half of client_id, at Houndify.').notServed('the vendor'),
  client_secret: key.describe('The secret half of client_id, at Verbio.').notServed('the vendor'),
  cobalt_server_uri: address.describe('Where the Cobalt server listens: host:port.').notServed('the vendor'),
  custom_stt_endpoint: word.describe('The id of your own recognizer at Azure.'),
  custom_stt_endpoint_url: url.describe('The URL of a recognizer that runs in a container.'),
  custom_stt_url: url.describe('Your own server that listens.'),
  custom_tts_endpoint: word.describe('The id of your own voice at Azure.'),
  custom_tts_endpoint_url: url.describe('The URL of a synthesizer that runs in a container.'),
  custom_tts_streaming_url: url
    .describe('Your own server that speaks text as it arrives.')
    .notServed('speech that is spoken while it comes in'),
  custom_tts_url: url.describe('Your own server that speaks.'),
  deepgram_stt_uri: address.describe('The address of your own Deepgram for listening: host:port.'),
  deepgram_stt_use_tls: yesOrNo.describe('1: it is reached over TLS.'),
  deepgram_tts_uri: address.describe('The address of your own Deepgram for speaking: host:port.'),
  engine_version: word.describe('The version of the recognizer at Verbio.').notServed('the vendor'),
  houndify_server_uri: address.describe('Another address of Houndify.').notServed('the vendor'),
  instance_id: word.describe('The instance of the service at IBM.').notServed('the vendor'),
  model_id: word.describe('The model to speak or to listen with.'),
  nuance_stt_uri: address
    .describe('The address of your own Nuance recognizer: host:port.')
    .notServed('the vendor'),
  nuance_tts_uri: address
    .describe('The address of your own Nuance synthesizer: host:port.')
    .notServed('the vendor'),
  options: jsonText.describe('JSON text, as the vendor documents it.'),
  playht_tts_uri: address.describe('Another address of PlayHT.').notServed('the vendor'),
  region: region.describe('The region of the vendor that is used: `westeurope`.'),
  resemble_tts_uri: address.describe('Another address of Resemble.').notServed('the vendor'),
  resemble_tts_use_tls: yesOrNo.describe('1: it is reached over TLS.').notServed('the vendor'),
  riva_server_uri: address.describe('Where the Riva server listens: host:port.').notServed('the vendor'),
  role_arn: word.describe('A role in AWS that is assumed with the key.'),
  secret: key.describe('The secret half of client_id, at Nuance.').notServed('the vendor'),
  secret_access_key: key.describe('The secret half of access_key_id.'),
  service_key: jsonText.describe('JSON text: the key of a service account.'),
  service_version: word
    .describe('The version of the service at AssemblyAI.')
    .notServed('another version than v3'),
  speechmatics_stt_uri: address.describe(
    'The host of the region at Speechmatics: `eu2.rt.speechmatics.com`.',
  ),
  stt_api_key: key.describe('The API key of IBM for listening.').notServed('the vendor'),
  stt_model_id: word.describe('The model to listen with.').notServed('the vendor'),
  stt_region: region.describe('The region at IBM that listens.').notServed('the vendor'),
  tts_api_key: key.describe('The API key of IBM for speaking.').notServed('the vendor'),
  tts_region: region.describe('The region at IBM that speaks.').notServed('the vendor'),
  use_custom_stt: yesOrNo.describe('1: custom_stt_endpoint or its URL is used.'),
  use_custom_tts: yesOrNo.describe('1: custom_tts_endpoint or its URL is used.'),
  user_id: word.describe('The name of the customer at the vendor.').notServed('the vendor'),
  voice_engine: word.describe('The engine at PlayHT that speaks.').notServed('the vendor'),
} as const satisfies Readonly<Record<string, Field<unknown, Presence>>>

export type SettingName = keyof typeof settingFields

export interface VendorRule {
  readonly required?: readonly SettingName[]
  readonly optional?: readonly SettingName[]
  /** Encrypted like the others, and never shown whole. */
  readonly secret: readonly SettingName[]
  /** Changeable by PUT; never a secret. */
  readonly changeable: readonly SettingName[]
  /** Returns a fault in fields that only some combinations require. */
  readonly fault?: (settings: Values, uses: Values) => string | undefined
}

const apiKeyOnly: VendorRule = { required: ['api_key'], secret: ['api_key'], changeable: [] }
const modelAndKey: VendorRule = {
  required: ['api_key', 'model_id'],
  secret: ['api_key'],
  changeable: ['model_id'],
}
/** The dialect of OpenAI is spoken by servers that anyone can run. */
const openAiDialect: VendorRule = {
  ...modelAndKey,
  optional: ['api_uri'],
  changeable: ['model_id', 'api_uri'],
}
const modelKeyAndOptions: VendorRule = {
  ...modelAndKey,
  optional: ['options'],
  changeable: ['model_id', 'options'],
}
const microsoftEndpoints: readonly SettingName[] = [
  'use_custom_tts',
  'custom_tts_endpoint',
  'custom_tts_endpoint_url',
  'use_custom_stt',
  'custom_stt_endpoint',
  'custom_stt_endpoint_url',
]
const deepgramPlaces: readonly SettingName[] = [
  'deepgram_stt_uri',
  'deepgram_stt_use_tls',
  'deepgram_tts_uri',
  'model_id',
]
const customPlaces: readonly SettingName[] = ['custom_stt_url', 'custom_tts_url', 'custom_tts_streaming_url']
const nuancePlaces: readonly SettingName[] = ['nuance_tts_uri', 'nuance_stt_uri']

const rules: Readonly<Record<string, VendorRule>> = {
  assemblyai: { ...apiKeyOnly, optional: ['service_version'], changeable: ['service_version'] },
  aws: {
    optional: ['aws_region', 'access_key_id', 'secret_access_key', 'role_arn'],
    secret: ['secret_access_key'],
    changeable: ['aws_region'],
  },
  cartesia: {
    required: ['api_key'],
    optional: ['model_id', 'stt_model_id', 'options'],
    secret: ['api_key'],
    changeable: ['model_id', 'stt_model_id', 'options'],
    fault: (settings, { use_for_tts, use_for_stt }) => {
      if (use_for_tts === 1 && !has(settings, 'model_id')) return 'model_id is required for tts'
      return use_for_stt === 1 && !has(settings, 'stt_model_id')
        ? 'stt_model_id is required for stt'
        : undefined
    },
  },
  cobalt: { required: ['cobalt_server_uri'], secret: [], changeable: ['cobalt_server_uri'] },
  deepgram: {
    optional: ['api_key', ...deepgramPlaces],
    secret: ['api_key'],
    changeable: deepgramPlaces,
    fault: (settings) =>
      has(settings, 'api_key') || (has(settings, 'deepgram_stt_uri') && has(settings, 'deepgram_tts_uri'))
        ? undefined
        : 'api_key is required, unless deepgram_stt_uri and deepgram_tts_uri are given',
  },
  deepgramflux: apiKeyOnly,
  elevenlabs: {
    ...modelAndKey,
    optional: ['api_uri', 'options'],
    changeable: ['model_id', 'api_uri', 'options'],
  },
  gladia: { optional: ['api_key', 'region'], secret: ['api_key'], changeable: ['region'] },
  google: {
    required: ['service_key'],
    optional: ['model_id'],
    secret: ['service_key'],
    changeable: ['model_id'],
  },
  houndify: {
    required: ['client_id', 'client_key', 'user_id'],
    optional: ['houndify_server_uri'],
    secret: ['client_key'],
    changeable: ['houndify_server_uri'],
  },
  ibm: {
    optional: ['tts_api_key', 'tts_region', 'stt_api_key', 'stt_region', 'instance_id'],
    secret: ['tts_api_key', 'stt_api_key'],
    changeable: ['tts_region', 'stt_region'],
  },
  inworld: modelKeyAndOptions,
  microsoft: {
    optional: ['region', 'api_key', ...microsoftEndpoints],
    secret: ['api_key'],
    changeable: ['region', ...microsoftEndpoints],
    fault: (settings) => {
      if (has(settings, 'custom_tts_endpoint_url') || has(settings, 'custom_stt_endpoint_url'))
        return undefined
      const missing = (['region', 'api_key'] as const).find((name) => !has(settings, name))
      return missing === undefined
        ? undefined
        : `${missing} is required, unless the URL of a custom endpoint is given`
    },
  },
  nuance: {
    optional: ['client_id', 'secret', ...nuancePlaces],
    secret: ['secret'],
    changeable: nuancePlaces,
    fault: (settings) => {
      if (nuancePlaces.some((name) => has(settings, name))) return undefined
      const missing = (['client_id', 'secret'] as const).find((name) => !has(settings, name))
      return missing === undefined
        ? undefined
        : `${missing} is required, unless nuance_tts_uri or nuance_stt_uri is given`
    },
  },
  nvidia: { required: ['riva_server_uri'], secret: [], changeable: ['riva_server_uri'] },
  openai: openAiDialect,
  playht: {
    required: ['api_key', 'user_id', 'voice_engine'],
    optional: ['playht_tts_uri', 'options'],
    secret: ['api_key'],
    changeable: ['voice_engine', 'playht_tts_uri', 'options'],
  },
  resemble: {
    ...apiKeyOnly,
    optional: ['resemble_tts_uri', 'resemble_tts_use_tls'],
    changeable: ['resemble_tts_uri', 'resemble_tts_use_tls'],
  },
  rimelabs: modelKeyAndOptions,
  soniox: apiKeyOnly,
  speechmatics: {
    required: ['api_key', 'speechmatics_stt_uri'],
    optional: ['options'],
    secret: ['api_key'],
    changeable: ['speechmatics_stt_uri', 'options'],
  },
  verbio: {
    required: ['client_id', 'client_secret', 'engine_version'],
    secret: ['client_secret'],
    changeable: ['engine_version'],
  },
  vosk: { required: ['custom_stt_url'], secret: [], changeable: ['custom_stt_url'] },
  voxist: apiKeyOnly,
  wellsaid: apiKeyOnly,
  whisper: openAiDialect,
}

const customVendor: VendorRule = {
  optional: ['auth_token', ...customPlaces],
  secret: ['auth_token'],
  changeable: customPlaces,
}

const customName = /^custom:[\w][\w .-]{0,56}$/

export function vendorRule(vendor: string): VendorRule | undefined {
  if (customName.test(vendor)) return customVendor
  return Object.hasOwn(rules, vendor) ? rules[vendor] : undefined
}

export const vendorNames: readonly string[] = Object.keys(rules)

export function settingNames({ required = [], optional = [] }: VendorRule): readonly SettingName[] {
  return [...required, ...optional]
}

/** Reports the address of a server that no request can be sent to, such as `http://[::1`. */
export function isBrokenAddress(name: SettingName, value: unknown): boolean {
  if (!/_ur[il]$/.test(name) || typeof value !== 'string') return false
  const target = URL.parse(/^[a-z]+:\/\//i.test(value) ? value.replace(/^ws/i, 'http') : `https://${value}`)
  return (
    target === null || !/^https?:$/.test(target.protocol) || target.username !== '' || target.password !== ''
  )
}

export function has(settings: Values, name: SettingName): boolean {
  const value = settings[name]
  return value !== undefined && value !== null && value !== ''
}
