// Settings of the name server that keeps the records of SIP realms.
import { isIP } from 'node:net'
import { domainName, type Setting } from './setting.ts'

export const dnsSettings = {
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
  } satisfies Setting<{ address: string; port: number } | undefined>,
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
}
