// All settings, by topic, read from the environment that main.ts passes in; no other file reads it.
// docs/reference/settings.md is generated from here.
import { changesBetween, nearestWord } from '../lib/nearest-word.ts'
import { isPublished, publishedFault } from '../lib/published-secrets.ts'
import { accessSettings } from './access.ts'
import { callSettings } from './calls.ts'
import { dnsSettings } from './dns.ts'
import { mailSettings } from './mail.ts'
import { networkSettings } from './network.ts'
import { processSettings } from './process.ts'
import { missingForTls, secureSettings } from './secure.ts'
import { missingForShaken, shakenSettings } from './shaken.ts'
import { storageSettings } from './storage.ts'
import { teamsSettings } from './teams.ts'

const settings = {
  ...networkSettings,
  ...callSettings,
  ...storageSettings,
  ...accessSettings,
  ...mailSettings,
  ...dnsSettings,
  ...secureSettings,
  ...shakenSettings,
  ...teamsSettings,
  ...processSettings,
}

type Settings = typeof settings

/** The value of each setting. */
export type Config = { readonly [Key in keyof Settings]: ReturnType<Settings[Key]['parse']> }

/** A setting that cannot be used; main.ts prints the message and stops. */
export class ConfigError extends Error {}

/** Reads every setting. Throws ConfigError with the name and rule of each that is wrong or unknown. */
export function parseConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const problems = unknownSettings(environment)
  const values: Record<string, unknown> = {}
  for (const [key, setting] of Object.entries(settings)) {
    const text = environment[setting.name] ?? setting.fallback
    try {
      values[key] = setting.parse(text)
    } catch (error) {
      problems.push(`${setting.name} ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  // Config is made of the types that these parsers return.
  const config = values as unknown as Config
  const missing = missingForDns(config)
  if (missing !== undefined) throw new ConfigError(`SWITCHHOOK_DNS_SERVER needs ${missing}`)
  if (config.accountApiKey !== undefined && config.accountApiKey === config.adminApiKey)
    throw new ConfigError('SWITCHHOOK_ACCOUNT_API_KEY must not be SWITCHHOOK_ADMIN_API_KEY')
  demandOwnPorts(config)
  const unset = missingForTls(config) ?? missingForShaken(config)
  if (unset !== undefined) throw new ConfigError(unset)
  const shown = publishedSettings(environment)
  if (config.isProduction && shown.length > 0)
    throw new ConfigError(
      shown.map((name) => `${name} ${publishedFault}, for example with openssl rand -hex 32`).join('\n'),
    )
  return config
}

/** Returns the names of the settings that are, or whose URL has as its password, a secret that the documentation shows. */
export function publishedSettings(
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  return Object.values(settings)
    .map(({ name }): string => name)
    .filter((name) => {
      const text = environment[name] ?? ''
      const password = URL.canParse(text) ? new URL(text).password : ''
      return isPublished(text) || isPublished(decoded(password))
    })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const prefix = 'SWITCHHOOK_'
// Only the tests read these. A shell that has them set may start the platform too.
const ofTests: ReadonlySet<string> = new Set(['SWITCHHOOK_TEST_RESULT', 'SWITCHHOOK_FUZZ_SEED'])
// Kubernetes and Docker set such variables in others' containers for a service or container called switchhook.
const ofService =
  /^SWITCHHOOK_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/
const serviceUrl = /^(tcp|udp|sctp):\/\//

/** Returns a sentence for each setting that may be misspelt; parseConfig refuses those that certainly are wrong. */
export function doubtsAbout(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const known = Object.values(settings)
    .map(({ name }): string => name)
    .filter((name) => name.startsWith(prefix))
  const doubts = Object.keys(environment).flatMap((name) => {
    // Few other variables of a shell begin with these letters, so few are searched.
    if (name.startsWith(prefix) || !/^[sw]/i.test(name)) return []
    const upper = name.toUpperCase()
    const right = known.find(
      (setting) => Math.abs(setting.length - name.length) < 4 && changesBetween(upper, setting) < 4,
    )
    const best = right === undefined ? undefined : nearestWord(upper, known)
    if (best !== undefined) return [`${name} is not read: the nearest setting is ${best}`]
    const beginning = upper.slice(0, upper.indexOf('_') + 1)
    if (changesBetween(beginning, prefix) > 3) return []
    const cure = nearestSetting(`${prefix}${upper.slice(beginning.length)}`, known)
    return [`${name} is not read, names of settings begin with ${prefix}: ${cure}`]
  })
  const nodeEnv = environment['NODE_ENV'] ?? ''
  if (!['', 'production', 'development', 'test'].includes(nodeEnv))
    doubts.push(
      `NODE_ENV is "${nodeEnv.slice(0, 64)}": only "production" closes the loopback exception of SWITCHHOOK_WEBHOOK_ALLOW`,
    )
  return doubts
}

/** Reports unknown settings: a misspelt one would silently leave the default in force. */
function unknownSettings(environment: Readonly<Record<string, string | undefined>>): string[] {
  const known = Object.values(settings).map(({ name }): string => name)
  const isForeign = (name: string): boolean =>
    !name.startsWith(prefix) ||
    ofTests.has(name) ||
    ofService.test(name) ||
    (name.endsWith('_PORT') && serviceUrl.test(environment[name] ?? ''))
  return Object.keys(environment)
    .filter((name) => !known.includes(name) && !isForeign(name))
    .map((name) => `${name} is not a setting: ${nearestSetting(name, known)}`)
}

/** Names the nearest setting, compared without the common prefix. */
function nearestSetting(name: string, known: readonly string[]): string {
  const nearest = nearestWord(
    name.slice(prefix.length),
    known.filter((setting) => setting.startsWith(prefix)).map((setting) => setting.slice(prefix.length)),
  )
  if (nearest === undefined) return 'docs/reference/settings.md lists all'
  return `the nearest one is ${prefix}${nearest}`
}

/** Throws ConfigError if two of them share a port. */
function demandOwnPorts(config: Config): void {
  const { httpPort, sipPort, httpsPort, sipsPort, wssPort, browserPort, rtpPorts } = config
  const taken = new Map<number, string>()
  const ports = [
    ['SWITCHHOOK_HTTP_PORT', httpPort],
    ['SWITCHHOOK_SIP_PORT', sipPort],
    ['SWITCHHOOK_HTTPS_PORT', httpsPort],
    ['SWITCHHOOK_SIPS_PORT', sipsPort],
    ['SWITCHHOOK_WSS_PORT', wssPort],
  ] as const
  for (const [name, port] of ports) {
    if (port === undefined || port === 0) continue
    const other = taken.get(port)
    if (other !== undefined) throw new ConfigError(`${name} must not be ${other}: both take it for TCP`)
    taken.set(port, name)
  }
  if (browserPort >= rtpPorts.first && browserPort <= rtpPorts.last)
    throw new ConfigError(
      `SWITCHHOOK_BROWSER_PORT must not be within SWITCHHOOK_RTP_PORTS, and is ${browserPort}: set it to another UDP port`,
    )
  if (browserPort === sipPort && browserPort !== 0)
    throw new ConfigError('SWITCHHOOK_BROWSER_PORT must not be SWITCHHOOK_SIP_PORT: both take it for UDP')
}

function missingForDns(config: Config): string | undefined {
  if (config.dnsServer === undefined) return undefined
  if (config.dnsZone === undefined) return 'SWITCHHOOK_DNS_ZONE'
  if (config.dnsTsigName === undefined) return 'SWITCHHOOK_DNS_TSIG_NAME'
  if (config.dnsTsigSecret === undefined) return 'SWITCHHOOK_DNS_TSIG_SECRET'
  const isAnywhere = config.bind === '0.0.0.0' || config.bind === '::'
  return config.publicAddress === undefined && isAnywhere ? 'SWITCHHOOK_PUBLIC_ADDRESS' : undefined
}

/** Returns one row per setting, for the reference page. */
export function describeSettings(): { name: string; fallback: string; describe: string }[] {
  return Object.values(settings).map(({ name, fallback, describe }) => ({ name, fallback, describe }))
}
