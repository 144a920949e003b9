// Every setting: name, type, default, one sentence. main.ts hands the environment in; no other file reads it.
// docs/reference/settings.md is generated from here.
import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import type { LogLevel } from './lib/log.ts'
import { nearestWord } from './lib/nearest-word.ts'

/** For SIP passwords (RFC 8760). */
export type SipDigest = 'MD5' | 'SHA-256'

export interface Config {
  readonly bind: string
  readonly httpPort: number
  readonly sipPort: number
  readonly sipDigest: readonly SipDigest[]
  readonly rtpPorts: { readonly first: number; readonly last: number }
  readonly publicAddress: string | undefined
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  readonly secretKey: string | undefined
  readonly webhookAllow: readonly string[] | undefined
  readonly adminPassword: string | undefined
  readonly adminApiKey: string | undefined
  readonly accountApiKey: string | undefined
  readonly logLevel: LogLevel
  readonly smtpUrl: string | undefined
  readonly mailFrom: string
  readonly portalUrl: string | undefined
  readonly nameServers: readonly string[] | undefined
  readonly dnsServer: { readonly address: string; readonly port: number } | undefined
  readonly dnsZone: string | undefined
  readonly dnsTsigName: string | undefined
  readonly dnsTsigSecret: Buffer | undefined
  readonly rateLimitPerKey: number
  readonly rateLimitPerAddress: number
  readonly trustedProxies: readonly string[] | undefined
  readonly sipProxies: readonly string[]
  readonly deliveryLogDays: number
  readonly callRecordDays: number
  readonly drainSeconds: number
  readonly mediaWorkers: number
  /** 0: never. */
  readonly ringingMs: number
  readonly accountShare: number
  readonly mediaTimeoutSeconds: number
  readonly holdTimeoutSeconds: number
  readonly accountQuotas: boolean
  readonly adminCarriers: boolean
  readonly minNetmask: number
  readonly isProduction: boolean
}

interface Setting<T> {
  readonly name: string
  readonly fallback: string
  readonly describe: string
  /** Throws an Error whose message is the rule that was broken. */
  readonly parse: (text: string) => T
}

const optionalText = (text: string): string | undefined => (text === '' ? undefined : text)

const settings = {
  bind: {
    name: 'SWITCHHOOK_BIND',
    fallback: '0.0.0.0',
    describe: 'The address that HTTP, SIP and RTP listen on.',
    parse: (text) => {
      if (isIP(text) === 0) throw new Error('must be an IP address')
      return text
    },
  } satisfies Setting<string>,
  httpPort: port('SWITCHHOOK_HTTP_PORT', '3000', 'The TCP port of the REST API.'),
  sipPort: port('SWITCHHOOK_SIP_PORT', '5060', 'The port of SIP, on UDP and TCP.'),
  sipDigest: {
    name: 'SWITCHHOOK_SIP_DIGEST',
    fallback: 'MD5',
    describe:
      'The digest algorithms phones are challenged with, the preferred one first: MD5, SHA-256 or both, separated by a comma. Phones in wide use, among them baresip as Debian ships it, give up when SHA-256 is offered at all.',
    parse: (text) => {
      const names = text.split(',').map((name) => name.trim().toUpperCase())
      const known = names.filter((name) => name === 'MD5' || name === 'SHA-256')
      if (known.length < names.length || new Set(names).size < names.length)
        throw new Error('must be MD5, SHA-256 or both, separated by a comma')
      return known
    },
  } satisfies Setting<readonly SipDigest[]>,
  rtpPorts: {
    name: 'SWITCHHOOK_RTP_PORTS',
    fallback: '40000-43999',
    describe: 'The UDP ports of RTP and RTCP; each call takes two.',
    parse: (text) => {
      const match = /^(\d{1,5})-(\d{1,5})$/.exec(text)
      const first = Number(match?.[1])
      const last = Number(match?.[2])
      if (match === null || first < 1024 || last > 65_535)
        throw new Error('must be FIRST-LAST within 1024-65535')
      // RTP is on an even port and RTCP on the next one.
      if (last - first < 1 + (first % 2)) throw new Error('must hold an even port and the one after it')
      return { first, last }
    },
  } satisfies Setting<{ first: number; last: number }>,
  publicAddress: {
    name: 'SWITCHHOOK_PUBLIC_ADDRESS',
    fallback: '',
    describe:
      'The IP address phones and carriers reach us at, when it is not the bound one (NAT, containers).',
    parse: (text) => {
      if (text !== '' && isIP(text) === 0) throw new Error('must be an IP address')
      return optionalText(text)
    },
  } satisfies Setting<string | undefined>,
  dataDir: {
    name: 'SWITCHHOOK_DATA_DIR',
    fallback: './data',
    describe: 'Where the embedded database, the key file and the audio cache live.',
    parse: (text) => text,
  } satisfies Setting<string>,
  databaseUrl: {
    name: 'SWITCHHOOK_DATABASE_URL',
    fallback: '',
    describe:
      'A postgres:// URL to use PostgreSQL, whose user may create tables there, and the extension pg_trgm for faster searches; empty for the embedded database.',
    parse: (text) => {
      if (text !== '' && (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)))
        throw new Error('must be a postgres:// URL')
      return optionalText(text)
    },
  } satisfies Setting<string | undefined>,
  secretKey: {
    name: 'SWITCHHOOK_SECRET_KEY',
    fallback: '',
    describe: 'The key for secrets at rest, 64 hex digits; empty for a key file made at first boot.',
    parse: (text) => {
      if (text !== '' && !/^[0-9a-f]{64}$/i.test(text)) throw new Error('must be 64 hex digits')
      return optionalText(text)
    },
  } satisfies Setting<string | undefined>,
  webhookAllow: {
    name: 'SWITCHHOOK_WEBHOOK_ALLOW',
    fallback: '',
    describe:
      'CIDR ranges inside the private address space that hooks, media URLs and called SIP URIs may reach, separated by commas; empty allows loopback outside production.',
    parse: (text) => {
      return text === '' ? undefined : parseRanges(text)
    },
  } satisfies Setting<readonly string[] | undefined>,
  adminPassword: {
    name: 'SWITCHHOOK_ADMIN_PASSWORD',
    fallback: '',
    describe: 'The admin password at first boot; empty generates one and prints it once.',
    parse: (text) => {
      if (text !== '' && text.length < 8) throw new Error('must have at least 8 characters')
      return optionalText(text)
    },
  } satisfies Setting<string | undefined>,
  adminApiKey: apiKey(
    'SWITCHHOOK_ADMIN_API_KEY',
    'The admin API key at first boot; empty generates one and prints it once.',
  ),
  accountApiKey: apiKey(
    'SWITCHHOOK_ACCOUNT_API_KEY',
    'The API key of the default account at first boot; empty generates one and prints it once.',
  ),
  logLevel: {
    name: 'SWITCHHOOK_LOG_LEVEL',
    fallback: 'info',
    describe: 'error, warn, info, debug or silent.',
    parse: (text) => {
      const level = (['error', 'warn', 'info', 'debug', 'silent'] as const).find((known) => known === text)
      if (level === undefined) throw new Error('must be error, warn, info, debug or silent')
      return level
    },
  } satisfies Setting<LogLevel>,
  smtpUrl: {
    name: 'SWITCHHOOK_SMTP_URL',
    fallback: '',
    describe:
      'The mail server that links for forgotten passwords are sent through, as smtp://user:password@host:port or smtps://; empty sends none.',
    parse: (text) => {
      if (text !== '' && (!/^smtps?:\/\//.test(text) || !URL.canParse(text)))
        throw new Error('must be an smtp:// or smtps:// URL')
      return optionalText(text)
    },
  } satisfies Setting<string | undefined>,
  mailFrom: {
    name: 'SWITCHHOOK_MAIL_FROM',
    fallback: 'Switchhook <no-reply@localhost>',
    describe: 'The sender of those mails.',
    parse: (text) => {
      if (!/^[^\r\n]*[^\s@]@[^\s@]+$/.test(text)) throw new Error('must be an e-mail address')
      return text
    },
  } satisfies Setting<string>,
  portalUrl: {
    name: 'SWITCHHOOK_PORTAL_URL',
    fallback: '',
    describe: 'Where people reach the portal, for links in mails; empty for the address of the REST API.',
    parse: (text) => {
      if (text !== '' && (!/^https?:\/\//.test(text) || !URL.canParse(text)))
        throw new Error('must be an http or https URL')
      return optionalText(text.replace(/\/+$/, ''))
    },
  } satisfies Setting<string | undefined>,
  nameServers: {
    name: 'SWITCHHOOK_NAME_SERVERS',
    fallback: '',
    describe:
      'The name servers that host names are looked up with, as IP-ADDRESS or IP-ADDRESS:PORT, separated by commas; empty for those of the machine. Its hosts file counts either way.',
    parse: (text) => {
      if (text === '') return undefined
      const servers = text.split(',').map((server) => server.trim())
      const isServer = (server: string): boolean => {
        const [, six, four, port = '53'] = /^(?:\[([^\]]+)\]|([0-9.]+))(?::(\d{1,5}))?$/.exec(server) ?? []
        const isPort = Number(port) >= 1 && Number(port) <= 65_535
        return isIP(server) !== 0 || (isIP(six ?? four ?? '') !== 0 && isPort)
      }
      if (!servers.every(isServer)) throw new Error('must be a comma-separated list of IP-ADDRESS:PORT')
      return servers
    },
  } satisfies Setting<readonly string[] | undefined>,
  dnsServer: {
    name: 'SWITCHHOOK_DNS_SERVER',
    fallback: '',
    describe:
      'The address:port of the name server that takes dynamic updates (RFC 2136) with the records of SIP realms; empty writes none.',
    parse: (text) => {
      if (text === '') return undefined
      const match = /^(?:\[([0-9a-f:]+)\]|([0-9.]+)):(\d{1,5})$/i.exec(text)
      const address = match?.[1] ?? match?.[2] ?? ''
      const number = Number(match?.[3])
      if (isIP(address) === 0 || number < 1 || number > 65_535) throw new Error('must be IP-ADDRESS:PORT')
      return { address, port: number }
    },
  } satisfies Setting<Config['dnsServer']>,
  dnsZone: domainName(
    'SWITCHHOOK_DNS_ZONE',
    'The zone on that server; realms outside it are left to their owners.',
  ),
  dnsTsigName: domainName('SWITCHHOOK_DNS_TSIG_NAME', 'The name of the key that signs the updates.'),
  dnsTsigSecret: {
    name: 'SWITCHHOOK_DNS_TSIG_SECRET',
    fallback: '',
    describe: 'The secret of that key for hmac-sha256, in base64.',
    parse: (text) => {
      if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) throw new Error('must be base64')
      return text === '' ? undefined : Buffer.from(text, 'base64')
    },
  } satisfies Setting<Buffer | undefined>,
  rateLimitPerKey: count(
    'SWITCHHOOK_RATE_LIMIT_PER_KEY',
    '6000',
    'How many REST requests a minute one API key or user may send; 0 for any number.',
    0,
  ),
  rateLimitPerAddress: count(
    'SWITCHHOOK_RATE_LIMIT_PER_ADDRESS',
    '12000',
    'How many REST requests a minute may come from one address (IPv6: one /64); 0 for any number.',
    0,
  ),
  trustedProxies: {
    name: 'SWITCHHOOK_TRUSTED_PROXIES',
    fallback: '',
    describe:
      'CIDR ranges of reverse proxies, separated by commas: their X-Forwarded-For names the address a REST request came from.',
    parse: (text) => (text === '' ? undefined : parseRanges(text)),
  } satisfies Setting<readonly string[] | undefined>,
  sipProxies: {
    name: 'SWITCHHOOK_SIP_PROXIES',
    fallback: '',
    describe:
      'CIDR ranges of our own SIP proxies and media relays inside the private address space, separated by commas: users and called SIP URIs may lead a call there by Record-Route, Path and SDP, and to no other inside address but the one they call from.',
    parse: (text) => (text === '' ? [] : parseRanges(text)),
  } satisfies Setting<readonly string[]>,
  deliveryLogDays: count(
    'SWITCHHOOK_DELIVERY_LOG_DAYS',
    '30',
    'How long the log of delivered notifications is kept; 0 for ever.',
    0,
  ),
  callRecordDays: count(
    'SWITCHHOOK_CALL_RECORD_DAYS',
    '0',
    'How long call records and their journals are kept; 0 for ever.',
    0,
  ),
  drainSeconds: count(
    'SWITCHHOOK_DRAIN_SECONDS',
    '3600',
    'How long SIGTERM waits for running calls before it hangs them up.',
    0,
  ),
  ringingMs: {
    name: 'SWITCHHOOK_RINGING',
    fallback: '500',
    describe:
      'After how many milliseconds a caller hears ringing (180) when its application is being asked and nothing else was said; off for never. Accounts may choose their own: ringing_after_ms.',
    parse: (text) => {
      if (text === 'off') return 0
      if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > 60_000)
        throw new Error('must be off or a whole number from 1 to 60000')
      return Number(text)
    },
  } satisfies Setting<number>,
  mediaWorkers: {
    name: 'SWITCHHOOK_MEDIA_WORKERS',
    fallback: 'auto',
    describe:
      'How many threads carry RTP; one serves about 400 calls. auto: one less than there are processors, and at least one.',
    parse: (text) => {
      if (text === 'auto') return Math.max(1, availableParallelism() - 1)
      if (!/^[1-9]\d{0,2}$/.test(text)) throw new Error('must be auto or a whole number of at least 1')
      return Number(text)
    },
  } satisfies Setting<number>,
  accountShare: {
    name: 'SWITCHHOOK_ACCOUNT_SHARE',
    fallback: '80',
    describe:
      'The most that one account may take, in percent, of what all accounts share (calls and their RTP ports, fetched and decoded audio, texts waiting to be spoken, requests to hooks) while no other takes any; of what is left the next one gets as many percent. 100 where one account may use everything. A limit voice_call_session of an account counts for its calls instead.',
    parse: (text) => {
      const percent = Number(text)
      if (!/^\d{1,3}$/.test(text) || percent < 10 || percent > 100)
        throw new Error('must be a whole number from 10 to 100')
      return percent
    },
  } satisfies Setting<number>,
  // Two silent report intervals of RFC 3550 §6.2 and a margin: shorter would end calls of phones that suppress silence.
  mediaTimeoutSeconds: count(
    'SWITCHHOOK_MEDIA_TIMEOUT_SECONDS',
    '30',
    'An answered call whose far end should send media ends after this long without RTP, RTCP or a SIP request from it; 0 never ends one.',
    0,
  ),
  // Longer than people let others wait; phones on hold send nothing, so that only the session timer shows them alive.
  holdTimeoutSeconds: count(
    'SWITCHHOOK_HOLD_TIMEOUT_SECONDS',
    '1800',
    'A call that its far end holds, or whose far end only listens, ends after this long without RTP, RTCP or a SIP request from it; 0 never ends one.',
    0,
  ),
  accountQuotas: onOff(
    'SWITCHHOOK_ACCOUNT_QUOTAS',
    'on limits how many applications, carriers, gateways, phone numbers, speech credentials and API keys an account may make.',
  ),
  adminCarriers: onOff(
    'SWITCHHOOK_ADMIN_CARRIERS',
    'on keeps carriers, gateways and phone numbers for administrators and service providers to change.',
  ),
  minNetmask: {
    name: 'SWITCHHOOK_MIN_NETMASK',
    fallback: '1',
    describe:
      'The least bits that the netmask of a gateway may have: the widest network calls are taken from.',
    parse: (text) => {
      if (!/^\d{1,2}$/.test(text) || Number(text) < 1 || Number(text) > 32)
        throw new Error('must be a whole number from 1 to 32')
      return Number(text)
    },
  } satisfies Setting<number>,
  isProduction: {
    name: 'NODE_ENV',
    fallback: '',
    describe: 'production closes the loopback exception of SWITCHHOOK_WEBHOOK_ALLOW.',
    parse: (text) => text === 'production',
  } satisfies Setting<boolean>,
}

function apiKey(name: string, describe: string): Setting<string | undefined> {
  return {
    name,
    fallback: '',
    describe,
    parse: (text) => {
      if (text !== '' && text.length < 16) throw new Error('must have at least 16 characters')
      return optionalText(text)
    },
  }
}

function domainName(name: string, describe: string): Setting<string | undefined> {
  return {
    name,
    fallback: '',
    describe,
    parse: (text) => {
      if (text !== '' && (text.length > 253 || !/^([a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?$/i.test(text)))
        throw new Error('must be a domain name')
      return optionalText(text.toLowerCase().replace(/\.$/, ''))
    },
  }
}

function onOff(name: string, describe: string): Setting<boolean> {
  return {
    name,
    fallback: 'off',
    describe,
    parse: (text) => {
      if (text !== 'on' && text !== 'off') throw new Error('must be on or off')
      return text === 'on'
    },
  }
}

function parseRanges(text: string): readonly string[] {
  const ranges = text.split(',').map((range) => range.trim())
  for (const range of ranges) {
    const [address = '', bits = ''] = range.split('/')
    const family = isIP(address)
    if (family === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
      throw new Error('must be a comma-separated list of CIDR ranges')
  }
  return ranges
}

function port(name: string, fallback: string, describe: string): Setting<number> {
  return {
    name,
    fallback,
    describe,
    parse: (text) => {
      // 0 = any free port, for tests and several instances on one machine.
      if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
        throw new Error('must be a port number, 0 to 65535')
      return Number(text)
    },
  }
}

function count(name: string, fallback: string, describe: string, min: number): Setting<number> {
  return {
    name,
    fallback,
    describe,
    parse: (text) => {
      if (!/^\d{1,6}$/.test(text) || Number(text) < min)
        throw new Error(`must be a whole number of at least ${min}`)
      return Number(text)
    },
  }
}

/** A setting that cannot be used; main.ts prints the message and stops. */
export class ConfigError extends Error {}

/** Reads every setting; throws ConfigError with the name and the rule of each one that is wrong or unknown. */
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
  // Every key of Config is a key of `settings`, whose parsers have the types of Config.
  const config = values as unknown as Config
  const missing = missingForDns(config)
  if (missing !== undefined) throw new ConfigError(`SWITCHHOOK_DNS_SERVER needs ${missing}`)
  if (config.accountApiKey !== undefined && config.accountApiKey === config.adminApiKey)
    throw new ConfigError('SWITCHHOOK_ACCOUNT_API_KEY must not be SWITCHHOOK_ADMIN_API_KEY')
  if (config.httpPort !== 0 && config.httpPort === config.sipPort)
    throw new ConfigError('SWITCHHOOK_SIP_PORT must not be SWITCHHOOK_HTTP_PORT: both take it for TCP')
  return config
}

const prefix = 'SWITCHHOOK_'
// Read by the tests alone. A shell that has them set may start the platform too.
const ofTests: ReadonlySet<string> = new Set(['SWITCHHOOK_TEST_RESULT', 'SWITCHHOOK_FUZZ_SEED'])
// Kubernetes and Docker describe a service or container called switchhook to the others in such variables.
const ofService =
  /^SWITCHHOOK_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/
const serviceUrl = /^(tcp|udp|sctp):\/\//

/** A misspelt setting would otherwise leave the default in force without a word. */
function unknownSettings(environment: Readonly<Record<string, string | undefined>>): string[] {
  const known = Object.values(settings).map(({ name }): string => name)
  const isForeign = (name: string): boolean =>
    !name.startsWith(prefix) ||
    ofTests.has(name) ||
    ofService.test(name) ||
    (name.endsWith('_PORT') && serviceUrl.test(environment[name] ?? ''))
  return Object.keys(environment)
    .filter((name) => !known.includes(name) && !isForeign(name))
    .map((name) => `${name} is not a setting: the nearest one is ${nearestWord(name, known) ?? prefix}`)
}

function missingForDns(config: Config): string | undefined {
  if (config.dnsServer === undefined) return undefined
  if (config.dnsZone === undefined) return 'SWITCHHOOK_DNS_ZONE'
  if (config.dnsTsigName === undefined) return 'SWITCHHOOK_DNS_TSIG_NAME'
  if (config.dnsTsigSecret === undefined) return 'SWITCHHOOK_DNS_TSIG_SECRET'
  const isAnywhere = config.bind === '0.0.0.0' || config.bind === '::'
  return config.publicAddress === undefined && isAnywhere ? 'SWITCHHOOK_PUBLIC_ADDRESS' : undefined
}

/** For the reference page: one row per setting. */
export function describeSettings(): { name: string; fallback: string; describe: string }[] {
  return Object.values(settings).map(({ name, fallback, describe }) => ({ name, fallback, describe }))
}
