// The required reaction to each message of RFC 4475: served by the core (with 200 here), refused with a status, or
// dropped without a response. Where the RFC leaves a choice, the reason for ours is given.

export type Owed = number | 'served' | 'dropped'

export interface TortureCase {
  readonly file: string
  readonly section: string
  readonly owed: Owed
  /** The reaction over TCP, if it differs from that to a datagram. */
  readonly overTcp?: Owed
  readonly reason?: string
}

export const tortureCases: readonly TortureCase[] = [
  { file: 'wsinv', section: '3.1.1.1', owed: 'served' },
  { file: 'intmeth', section: '3.1.1.2', owed: 501, reason: 'well formed, unknown method' },
  { file: 'esc01', section: '3.1.1.3', owed: 'served' },
  { file: 'escnull', section: '3.1.1.4', owed: 'served' },
  { file: 'esc02', section: '3.1.1.5', owed: 501, reason: 'well formed, unknown method' },
  { file: 'lwsdisp', section: '3.1.1.6', owed: 'served' },
  { file: 'longreq', section: '3.1.1.7', owed: 'served' },
  {
    file: 'dblreq',
    section: '3.1.1.8',
    owed: 'served',
    reason: 'the bytes after the REGISTER are noise over UDP',
  },
  { file: 'semiuri', section: '3.1.1.9', owed: 'served' },
  { file: 'transports', section: '3.1.1.10', owed: 'served' },
  { file: 'mpart01', section: '3.1.1.11', owed: 'served' },
  {
    file: 'unreason',
    section: '3.1.1.12',
    owed: 'dropped',
    reason: 'well formed, but answers nothing we sent',
  },
  {
    file: 'noreason',
    section: '3.1.1.13',
    owed: 'dropped',
    reason: 'well formed, but answers nothing we sent',
  },
  { file: 'badinv01', section: '3.1.2.1', owed: 400 },
  { file: 'clerr', section: '3.1.2.2', owed: 400, overTcp: 'dropped', reason: 'a stream waits for the rest' },
  { file: 'ncl', section: '3.1.2.3', owed: 400 },
  { file: 'scalar02', section: '3.1.2.4', owed: 400 },
  { file: 'scalarlg', section: '3.1.2.5', owed: 'dropped' },
  { file: 'quotbal', section: '3.1.2.6', owed: 400 },
  { file: 'ltgtruri', section: '3.1.2.7', owed: 400 },
  { file: 'lwsruri', section: '3.1.2.8', owed: 400 },
  {
    file: 'lwsstart',
    section: '3.1.2.9',
    owed: 400,
    reason: 'liberal reading is allowed; no phone needs it',
  },
  { file: 'trws', section: '3.1.2.10', owed: 400, reason: 'liberal reading is allowed; no phone needs it' },
  { file: 'escruri', section: '3.1.2.11', owed: 400 },
  { file: 'baddate', section: '3.1.2.12', owed: 'served', reason: 'Date is not used, so not looked at' },
  { file: 'regbadct', section: '3.1.2.13', owed: 400 },
  { file: 'badaspec', section: '3.1.2.14', owed: 400 },
  {
    file: 'baddn',
    section: '3.1.2.15',
    owed: 400,
    overTcp: 'dropped',
    reason: 'the archived bytes lack the empty line, which a stream waits for',
  },
  { file: 'badvers', section: '3.1.2.16', owed: 505 },
  { file: 'mismatch01', section: '3.1.2.17', owed: 400 },
  { file: 'mismatch02', section: '3.1.2.18', owed: 501 },
  { file: 'bigcode', section: '3.1.2.19', owed: 'dropped' },
  { file: 'badbranch', section: '3.2.1', owed: 'served', reason: 'falls back to matching as in RFC 2543' },
  { file: 'insuf', section: '3.3.1', owed: 400 },
  { file: 'unkscm', section: '3.3.2', owed: 416 },
  { file: 'novelsc', section: '3.3.3', owed: 416 },
  { file: 'unksm2', section: '3.3.4', owed: 400 },
  { file: 'bext01', section: '3.3.5', owed: 420 },
  { file: 'invut', section: '3.3.6', owed: 415 },
  {
    file: 'regaut01',
    section: '3.3.7',
    owed: 'served',
    reason: 'the registrar behind the core challenges it',
  },
  { file: 'multi01', section: '3.3.8', owed: 400 },
  { file: 'mcl01', section: '3.3.9', owed: 400 },
  { file: 'bcast', section: '3.3.10', owed: 'dropped' },
  { file: 'zeromf', section: '3.3.11', owed: 'served', reason: 'an endpoint does not forward' },
  { file: 'cparam01', section: '3.3.12', owed: 'served' },
  { file: 'cparam02', section: '3.3.13', owed: 'served' },
  { file: 'regescrt', section: '3.3.14', owed: 'served' },
  {
    file: 'sdp01',
    section: '3.3.15',
    owed: 'served',
    reason: 'a sender of SDP takes SDP, whatever else its Accept lists; 406 is a choice of the RFC',
  },
  { file: 'inv2543', section: '3.4.1', owed: 'served' },
  { file: 'test', section: 'A.1', owed: 'dropped', reason: 'no SIP version in the start line' },
]
