// Settings of Microsoft Teams: where its SIP proxies are, and which addresses belong to it.
import { parseRanges, type Setting } from './setting.ts'

/** A SIP proxy of Microsoft. */
interface TeamsProxy {
  readonly host: string
  readonly port: number
}

const usualPort = 5061
const maxProxies = 8
const place = /^((?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63})(?::(\d{1,5}))?$/

export const teamsSettings = {
  teamsProxies: {
    name: 'SWITCHHOOK_TEAMS_PROXIES',
    fallback: 'sip.pstnhub.microsoft.com,sip2.pstnhub.microsoft.com,sip3.pstnhub.microsoft.com',
    describe:
      'The SIP proxies of Microsoft Teams, as HOST or HOST:PORT, separated by commas: calls are tried at each of them in this order, over TLS. Without a port it is 5061.',
    parse: (text) => {
      const proxies = text.split(',').map((one) => {
        const [, host, port = String(usualPort)] = place.exec(one.trim().toLowerCase()) ?? []
        return { host, port: Number(port) }
      })
      const isProxy = (one: {
        readonly host: string | undefined
        readonly port: number
      }): one is TeamsProxy => one.host !== undefined && one.port > 0 && one.port <= 65_535
      if (proxies.length > maxProxies || !proxies.every(isProxy))
        throw new Error(`must be a comma-separated list of at most ${maxProxies} HOST:PORT`)
      return proxies
    },
  } satisfies Setting<readonly TeamsProxy[]>,
  teamsNetworks: {
    name: 'SWITCHHOOK_TEAMS_NETWORKS',
    fallback: '52.112.0.0/14,52.120.0.0/14',
    describe:
      'CIDR ranges that Microsoft Teams signals from, separated by commas: a call that comes from there over TLS, to the name of a Microsoft Teams tenant, belongs to that tenant. SIP URIs of customers cannot reach these addresses.',
    parse: parseRanges,
  } satisfies Setting<readonly string[]>,
}
