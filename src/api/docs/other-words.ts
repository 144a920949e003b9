// Search entries for common names of things that have another name here.
import type { SearchEntry } from './search-script.ts'

/** Entries for such names, and for the pages themselves. */
export const otherWords: readonly SearchEntry[] = [
  ['Settings', 'environment variables, configuration, ports', '/docs/settings'],
  [
    'Port in use (EADDRINUSE)',
    'a start fails because a port is taken: the ports and their settings',
    '/docs/guides/production#settings',
  ],
  ['Webhook timeout', 'hook_timeout: the time budget of a hook', '/docs/errors/hook_timeout'],
  [
    'Call forwarding',
    'transfer a call to another party, from your program or from a phone',
    '/docs/guides/connect-two#transfer-a-call',
  ],
  [
    'Call forwarding by the phone',
    'a called phone forwards a call: redirect with 300, 301 or 302',
    '/docs/routing#redirect',
  ],
  [
    'Metrics and monitoring',
    'Prometheus, health check, alerts: what to watch; no metrics endpoint is served',
    '/docs/guides/production#what-to-watch',
  ],
  ['WebSocket', 'messages, acks and commands of an application over WebSocket', '/docs/websocket'],
  ['Audio servers', 'audio streams: what they are sent, and may say', '/docs/audio-streams'],
  [
    'Closed destinations',
    'fraud: premium rate, satellite and high risk numbers that an account opens',
    '/docs/destinations',
  ],
  ['Call centre', 'callers wait in a queue, agents take them', '/docs/guides/queue'],
  ['Routing', 'rules: which application gets a call, which carrier', '/docs/routing'],
  ['Ring group', 'dial with several targets, which ring together', '/docs/verbs#verb-dial'],
  ['Softphone', 'Linphone, baresip: a phone on your computer', '/docs/guides/softphone'],
  ['Transfer', 'referHook: a phone transfers a call (REFER)', '/docs/hooks#hook-refer'],
  ['IVR', 'a menu: gather collects digits', '/docs/guides/collect-digits'],
  ['Music on hold', 'onHoldHook, onHoldMusic', '/docs/hooks#hook-hold'],
  [
    'Codecs',
    'codec: Opus, G.722, G.711 (PCMU, PCMA); wideband, HD voice, transcoding',
    '/docs/guides/softphone#no-sound-or-no-registration',
  ],
  ['Voicemail', 'record a message: listen, or record of config', '/docs/guides/recording'],
  [
    'SIP status 480',
    'no application, hook failed: the error codes that a caller gets as 480',
    '/docs/errors',
  ],
  ['SIP status 603', 'refused, declined: hangup before the answer', '/docs/verbs#verb-hangup'],
  ['SIP status 486', 'busy', '/docs/verbs#verb-sip-decline'],
  [
    'SIP statuses',
    '401, 403, 404, 408, 480, 481, 486, 487, 488, 503, 603: the codes behind them',
    '/docs/errors',
  ],
  ['Docker', 'container, image', '/docs/guides/production#in-a-container'],
  ['CORS', 'web pages of other origins that call the API', '/docs/settings'],
  ['Pagination', 'page, page_size, count: lists in pages', '/docs/resources/RecentCalls'],
  [
    'Retries',
    'retry, repeat: webhook retries by #rc= and rp= in the URL, repeated status hooks',
    '/docs/hooks',
  ],
  [
    'Password reset',
    'a forgotten password of a user; npm run reset-admin for the operator',
    '/docs/resources/Users',
  ],
  [
    'Story',
    'npm run story: the journal of a call as lines for people',
    '/docs/guides/first-application#what-happened',
  ],
  ['Demo', 'npm run demo: a call that you can watch', '/docs/guides/first-application'],
  ['Unknown properties', 'unknown members: ignored, noted in the journal for verbs', '/docs/verbs'],
  [
    'NAT and firewall',
    'public address, open ports: SWITCHHOOK_PUBLIC_ADDRESS',
    '/docs/settings#SWITCHHOOK_PUBLIC_ADDRESS',
  ],
  ['Content-Type', 'application/json: verbs under another content type are not read', '/docs/hooks'],
  [
    'Participants',
    'who is in a conference: GET /Conferences with expand=participants',
    '/docs/resources/Calls',
  ],
  [
    'Unregister',
    'REGISTER with expires 0; a phone that is not reached',
    '/docs/resources/RegisteredSipUsers',
  ],
  ['WebRTC', 'browsers as phones: SIP over WebSockets, ICE, DTLS-SRTP', '/docs/guides/softphone#a-browser'],
  ['SIP.js, JsSIP', 'a browser as a phone', '/docs/guides/softphone#a-browser'],
  ['SRTP, SDES', 'encrypted sound: tls/srtp of a gateway, srtpEncryption of dial', '/docs/guides/tls'],
]
