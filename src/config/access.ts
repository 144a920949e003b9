// Settings of access: secrets of the first boot, rate limits, and the records that accounts may make.
import { apiKey, count, onOff, optionalText, type Setting } from './setting.ts'

export const accessSettings = {
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
  accountQuotas: onOff(
    'SWITCHHOOK_ACCOUNT_QUOTAS',
    'on: the keys and users of an account may make it 500 applications, 100 carriers, 500 gateways, 5000 phone numbers, 50 speech credentials and 100 API keys. Administrators and service providers are not limited.',
    'on',
  ),
  minSipPassword: {
    name: 'SWITCHHOOK_MIN_SIP_PASSWORD',
    fallback: '8',
    describe:
      'How many characters the password of a SIP client, and the one that a carrier authenticates with, must have when it is set, 1 to 64. Stored passwords stay valid. Lower it while you import phones whose passwords you cannot change.',
    parse: (text) => {
      if (!/^\d{1,2}$/.test(text) || Number(text) < 1 || Number(text) > 64)
        throw new Error('must be a whole number from 1 to 64')
      return Number(text)
    },
  } satisfies Setting<number>,
  strictFields: onOff(
    'SWITCHHOOK_STRICT_FIELDS',
    'on: a request to the REST API with a field or query parameter that does not exist is refused with 400. off: it has no effect, and `X-Unknown-Fields` of the response and the entry in the audit log name it with the nearest that exists.',
  ),
  adminCarriers: onOff(
    'SWITCHHOOK_ADMIN_CARRIERS',
    'on: only administrators and service providers may change carriers, gateways and phone numbers, and SIP URIs of an account do not reach carriers that are not its own.',
  ),
  minNetmask: {
    name: 'SWITCHHOOK_MIN_NETMASK',
    fallback: '1',
    describe:
      'The shortest netmask, in bits, that a gateway may have. It limits how large a network calls are accepted from.',
    parse: (text) => {
      if (!/^\d{1,2}$/.test(text) || Number(text) < 1 || Number(text) > 32)
        throw new Error('must be a whole number from 1 to 32')
      return Number(text)
    },
  } satisfies Setting<number>,
}
