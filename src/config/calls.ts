// Settings of calls: how they are taken, shared out and ended.
import { availableParallelism } from 'node:os'
import { count, type Setting } from './setting.ts'

/** An algorithm for SIP passwords (RFC 8760). */
export type SipDigest = 'MD5' | 'SHA-256'

export const callSettings = {
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
      'The most that one account may take, in percent, of what all accounts share (calls and their RTP ports, fetched and decoded audio, recordings that wait to be stored, texts waiting to be spoken, lists being read by the API, requests to hooks) while no other takes any. Each further account may take the same percentage of what remains. 100: one account may use everything. A limit voice_call_session of an account counts for its calls instead.',
    parse: (text) => {
      const percent = Number(text)
      if (!/^\d{1,3}$/.test(text) || percent < 10 || percent > 100)
        throw new Error('must be a whole number from 10 to 100')
      return percent
    },
  } satisfies Setting<number>,
  /** 0 means never. */
  ringingMs: {
    name: 'SWITCHHOOK_RINGING',
    fallback: '500',
    describe:
      'The time in milliseconds after which a caller hears ringing (180) if its application has not answered and no other response was sent; off for never. Accounts may choose their own: ringing_after_ms.',
    parse: (text) => {
      if (text === 'off') return 0
      if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > 60_000)
        throw new Error('must be off or a whole number from 1 to 60000')
      return Number(text)
    },
  } satisfies Setting<number>,
  // Two silent report intervals of RFC 3550 §6.2 and a margin. A shorter limit would end calls of phones that suppress
  // silence.
  mediaTimeoutSeconds: count(
    'SWITCHHOOK_MEDIA_TIMEOUT_SECONDS',
    '30',
    'An answered call whose far end should send media ends after this long without RTP, RTCP or a SIP request from it; 0 never ends one.',
    0,
  ),
  // Longer than people let others wait. Phones on hold send only the requests that refresh their session.
  holdTimeoutSeconds: count(
    'SWITCHHOOK_HOLD_TIMEOUT_SECONDS',
    '1800',
    'A call that its far end holds, or whose far end only listens, ends after this long without RTP, RTCP or a SIP request from it; 0 never ends one.',
    0,
  ),
  socketMaxMessageBytes: {
    name: 'SWITCHHOOK_SOCKET_MAX_MESSAGE',
    fallback: '24576',
    describe:
      'The longest message, in bytes, that an application over WebSocket may send; the socket is closed at a longer one.',
    parse: (text) => {
      if (!/^\d{4,7}$/.test(text) || Number(text) < 1024 || Number(text) > 1_048_576)
        throw new Error('must be a whole number from 1024 to 1048576')
      return Number(text)
    },
  } satisfies Setting<number>,
  /** 0 means never. */
  socketPingSeconds: {
    name: 'SWITCHHOOK_SOCKET_PING_SECONDS',
    fallback: 'off',
    describe:
      'How often an application over WebSocket gets a ping, which keeps firewalls from forgetting its connection: 16 seconds or more, or off.',
    parse: (text) => {
      if (text === 'off') return 0
      if (!/^\d{2,4}$/.test(text) || Number(text) < 16 || Number(text) > 3600)
        throw new Error('must be off or a whole number from 16 to 3600')
      return Number(text)
    },
  } satisfies Setting<number>,
}
