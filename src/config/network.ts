// Settings of the network: where the platform listens, how it is reached, whom it trusts.
import { isIP } from 'node:net'
import { optionalText, parseRanges, port, type Setting } from './setting.ts'

export const networkSettings = {
  bind: {
    name: 'SWITCHHOOK_BIND',
    fallback: '0.0.0.0',
    describe: 'The address that HTTP, SIP and RTP listen on.',
    parse: (text) => {
      if (isIP(text) === 0) throw new Error('must be an IP address')
      return text
    },
  } satisfies Setting<string>,
  httpPort: port(
    'SWITCHHOOK_HTTP_PORT',
    '3000',
    'The TCP port of the REST API, of /docs and of SIP over WebSockets in clear.',
  ),
  sipPort: port('SWITCHHOOK_SIP_PORT', '5060', 'The port of SIP, on UDP and TCP.'),
  publicAddress: {
    name: 'SWITCHHOOK_PUBLIC_ADDRESS',
    fallback: '',
    describe:
      'The IP address at which phones and carriers reach the platform, when it is not the bound one (NAT, containers).',
    parse: (text) => {
      if (text !== '' && isIP(text) === 0) throw new Error('must be an IP address')
      return optionalText(text)
    },
  } satisfies Setting<string | undefined>,
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
      if (first > last) throw new Error('must be FIRST-LAST, and FIRST is greater than LAST')
      // RTP is on an even port and RTCP on the next one.
      if (last - first < 1 + (first % 2)) throw new Error('must hold an even port and the one after it')
      return { first, last }
    },
  } satisfies Setting<{ first: number; last: number }>,
  browserPort: port(
    'SWITCHHOOK_BROWSER_PORT',
    '45000',
    'The UDP port of the media of browsers (WebRTC), all of them together. It is opened when the first browser calls or is called.',
  ),
  browserUser: {
    name: 'SWITCHHOOK_BROWSER_USER',
    fallback: '',
    describe:
      'The user and group of the process that carries the media of browsers, as UID:GID, such as 65534:65534, for a platform that runs as root. They must be able to read the program, and not the data directory. Empty for those of the platform.',
    parse: (text) => {
      if (text === '') return undefined
      const [, uid = '', gid = ''] = /^([1-9]\d{0,8}):([1-9]\d{0,8})$/.exec(text) ?? []
      if (uid === '') throw new Error('must be UID:GID, two numbers above 0')
      return { uid: Number(uid), gid: Number(gid) }
    },
  } satisfies Setting<{ readonly uid: number; readonly gid: number } | undefined>,
  nameServers: {
    name: 'SWITCHHOOK_NAME_SERVERS',
    fallback: '',
    describe:
      'The name servers that host names are looked up with, as IP-ADDRESS or IP-ADDRESS:PORT, separated by commas; empty for those of the machine. The hosts file of the machine is used either way.',
    parse: (text) => {
      if (text === '') return undefined
      const servers = text.split(',').map((server) => server.trim())
      const isServer = (server: string): boolean => {
        const [, six, four, port = '53'] = /^(?:\[([^\]]+)\]|([0-9.]+))(?::(\d{1,5}))?$/.exec(server) ?? []
        const isPort = Number(port) >= 1 && Number(port) <= 65_535
        return isIP(server) !== 0 || (isIP(six ?? four ?? '') !== 0 && isPort)
      }
      if (!servers.every(isServer))
        throw new Error('must be a comma-separated list of IP-ADDRESS or IP-ADDRESS:PORT')
      return servers
    },
  } satisfies Setting<readonly string[] | undefined>,
  webhookAllow: {
    name: 'SWITCHHOOK_WEBHOOK_ALLOW',
    fallback: '',
    describe:
      'CIDR ranges inside the private address space that hooks, media URLs, called SIP URIs, and sound to the address in the SDP of a phone may reach, separated by commas; empty allows loopback outside production.',
    parse: (text) => (text === '' ? undefined : parseRanges(text)),
  } satisfies Setting<readonly string[] | undefined>,
  sipProxies: {
    name: 'SWITCHHOOK_SIP_PROXIES',
    fallback: '',
    describe:
      'CIDR ranges of your own SIP proxies and media relays, private or public, separated by commas. Calls of users who call or have registered through one of them may go there by Record-Route and Path, and the sound of any call by SDP; to no other inside address but the one that the user calls from. When an INVITE, or a request within the call of a user, comes from one of them, its last X-Forwarded-For names the real source, and a carrier is recognised by that address. Responses from any of them are accepted, wherever the request was sent.',
    parse: (text) => (text === '' ? [] : parseRanges(text)),
  } satisfies Setting<readonly string[]>,
  trustedProxies: {
    name: 'SWITCHHOOK_TRUSTED_PROXIES',
    fallback: '',
    describe:
      'CIDR ranges of reverse proxies, separated by commas: their X-Forwarded-For names the address that a REST request or a WebSocket came from.',
    parse: (text) => (text === '' ? undefined : parseRanges(text)),
  } satisfies Setting<readonly string[] | undefined>,
}
