// Messages within a dialog from a reader of its journal, who has Call-ID and tags. Sent from its own address, they
// must have no effect.
import { describe, expect, it } from 'vitest'
import {
  headerOf,
  type HeaderField,
  type SipMessage,
  type SipRequest,
  type SipResponse,
} from '../message/message.ts'
import { tagOf } from '../message/name-addr.ts'
import { parseMessage } from '../message/parse-message.ts'
import { answerChallenge } from '../auth/digest.ts'
import type { Dialog } from '../dialogs.ts'
import type { DialogUser } from '../invites.ts'
import type { Remote } from '../transport/transports.ts'
import { DialogGuard } from './dialog-guard.ts'
import {
  agentAddress,
  callOut,
  listenerOf,
  openStage,
  peerAddress,
  sdp,
  type Stage,
} from '../../../test/support/sip-stage.ts'
import { startOf } from '../../../test/support/fake-network.ts'

const strangerAddress = '192.0.2.77'
const proxyAddress = '192.0.2.53'
const passwords: Readonly<Record<string, string>> = { bob: 'right', mal: 'of mal' }

interface Held {
  readonly stage: Stage
  readonly told: string[]
  readonly notes: string[]
  readonly dialog: Dialog | undefined
  /** Sends a request of the dialog from another address, and resolves with the messages that came back to it. */
  readonly from: (address: string, method: string, fields?: Fields) => Promise<SipMessage[]>
}

interface Fields {
  readonly cseq?: number
  readonly headers?: readonly HeaderField[]
  readonly branch?: string
  readonly body?: string
}

const openHeld = () =>
  openStage({
    directory: {
      realmState: async (realm) => (realm === 'a.example' ? 'active' : 'unknown'),
      findUser: async (realm, username) => {
        const password = passwords[username]
        return password === undefined ? undefined : { realm, username, password }
      },
      // A carrier that authenticates may have the name of a user, but is not that user.
      findPeer: async (realm, username) => ({ realm, username, password: 'of a peer', peer: 'p1' }),
    },
  })

function userOf(notes: string[]): DialogUser {
  const noted = (sentence: string): void => void notes.push(sentence)
  return { username: 'bob', realm: 'a.example', isTrusted: (address) => address === proxyAddress, noted }
}

function senderOf(stage: Stage): Held['from'] {
  let count = 0
  return async (address, method, { cseq = 2, headers = [], branch, body = '' } = {}) => {
    const answers: SipMessage[] = []
    stage.network.attach(address, (message) => void answers.push(message))
    const known = stage.peer.received[0]
    if (known === undefined) throw new Error('nothing is known of the dialog')
    const ownTag = tagOf(headerOf(known, known.kind === 'request' ? 'from' : 'to'))
    const text = [
      `${method} sip:agent@${agentAddress} SIP/2.0`,
      `Via: SIP/2.0/UDP ${address === strangerAddress && branch !== undefined ? peerAddress : address}:5060;branch=${branch ?? `z9hG4bKfrom${++count}`};rport`,
      'From: <sip:peer@b.example>;tag=peer',
      `To: <sip:agent@a.example>${branch === undefined ? `;tag=${ownTag}` : ''}`,
      `Call-ID: ${headerOf(known, 'call-id')}`,
      `CSeq: ${cseq} ${method}`,
      `Contact: <sip:peer@${address}>`,
      ...headers.map(({ name, value }) => `${name}: ${value}`),
      ...(body === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n')
    stage.network.deliver(Buffer.from(text), { from: address, to: agentAddress })
    await stage.soon()
    return answers
  }
}

async function userCalls({ isAcked = true } = {}): Promise<Held> {
  const stage = await openHeld()
  const told: string[] = []
  const notes: string[] = []
  stage.peer.send('INVITE', { body: sdp.content, branch: 'z9hG4bKinvite' })
  await stage.soon()
  const invite = stage.invites[0]
  invite?.holdTo(userOf(notes))
  invite?.onCancel(() => told.push('cancelled'))
  invite?.progress({ status: 180 })
  await stage.soon()
  const from = senderOf(stage)
  if (!isAcked) return { stage, told, notes, dialog: undefined, from }
  const dialog = invite?.accept({ body: sdp })
  dialog?.listen(listenerOf(told))
  await stage.soon()
  stage.peer.send('ACK', { cseq: 1 })
  await stage.soon()
  return { stage, told, notes, dialog, from }
}

async function userIsCalled(): Promise<Held> {
  const stage = await openHeld()
  const told: string[] = []
  const notes: string[] = []
  const dialog = await callOut(stage, { user: userOf(notes) })
  dialog.listen(listenerOf(told))
  return { stage, told, notes, dialog, from: senderOf(stage) }
}

const onlyOf = (answers: readonly SipMessage[]): SipResponse => {
  const [first] = answers
  if (first?.kind !== 'response' || answers.length > 1)
    throw new Error(`came ${answers.map(startOf).join(', ')}`)
  return first
}

async function prove(
  { from }: Held,
  method: string,
  { username, password, address = strangerAddress, body = '', cseq = 3 }: Proof,
): Promise<SipMessage[]> {
  const asked = onlyOf(await from(address, method, { body, cseq }))
  const uri = `sip:agent@${agentAddress}`
  const field = answerChallenge(asked, { method, uri, credentials: { username, password } })
  if (field === undefined) throw new Error('the challenge cannot be met')
  return from(address, method, { headers: [field], body, cseq: cseq + 1 })
}

interface Proof {
  readonly username: string
  readonly password: string
  readonly address?: string
  readonly body?: string
  readonly cseq?: number
}

it('takes the ACK of a phone from its Contact, whichever way that writes an address of IPv6', () => {
  const request = (method: string) =>
    parseMessage(
      Buffer.from(`${method} sip:a@a.example SIP/2.0\r\nContact: <sip:bob@[2001:db8:0:0:0:0:0:7]>\r\n\r\n`),
    ) as SipRequest
  const at = (address: string): Remote => ({ transport: 'udp', address, port: 5060 })
  const guard = new DialogGuard(userOf([]), request('INVITE'), at('2001:db8::1'))
  expect(guard.takes(request('ACK'), at('2001:db8::7'))).toBe(true)
  expect(guard.takes(request('ACK'), at('2001:db8::8'))).toBe(false)
})

describe.each([
  ['that calls', userCalls],
  ['that is called', userIsCalled],
])('the dialog of a user %s', (_direction, open) => {
  it.each(['INVITE', 'UPDATE', 'INFO', 'OPTIONS', 'BYE'])(
    'challenges a %s from elsewhere as it challenges a REGISTER, and notes it',
    async (method) => {
      const held = await open()
      const before = [...held.told]
      const answer = onlyOf(await held.from(strangerAddress, method, { body: sdp.content }))
      expect(answer.status).toBe(401)
      expect(headerOf(answer, 'www-authenticate')).toContain('realm="a.example"')
      expect(held.told).toEqual(before)
      expect(held.notes).toEqual([
        `${method} from ${strangerAddress} challenged: bob@a.example signals from elsewhere`,
      ])
      void held.dialog?.bye()
      await held.stage.soon()
      expect(held.stage.peer.starts).toContain('BYE')
    },
  )

  it.each([
    ['the wrong password', 'bob', 'wrong'],
    ['another user of the realm', 'mal', 'of mal'],
    ['a carrier that has the name of the user', 'bob', 'of a peer'],
  ])('refuses a re-INVITE and a BYE from elsewhere with %s', async (_whose, username, password) => {
    const held = await open()
    const before = [...held.told]
    const first = await prove(held, 'INVITE', { username, password, body: sdp.content })
    const last = await prove(held, 'BYE', { username, password, cseq: 5 })
    expect([...first, ...last].map((answer) => startOf(answer))).toEqual(['403', '403'])
    expect(held.told).toEqual(before)
    expect(held.notes).toContain(`BYE from ${strangerAddress} refused: it is not from bob@a.example`)
  })

  it('lets the phone move: a request with credentials from elsewhere is served, and the next is not challenged', async () => {
    const held = await open()
    const proof = { username: 'bob', password: 'right' }
    const moved = await prove(held, 'INVITE', { ...proof, body: sdp.content })
    expect(onlyOf(moved).status).toBe(200)
    await held.from(strangerAddress, 'ACK', { cseq: 4 })
    expect(held.told).toContain('INVITE with offer')
    expect(held.notes.at(-1)).toBe(`bob@a.example has moved to ${strangerAddress}, and proved itself there`)
    // The phone's old address may belong to another host by now.
    held.stage.peer.send('INFO', { cseq: 5 })
    await held.stage.soon()
    expect(held.stage.peer.starts.at(-1)).toBe('401')
    const ended = await held.from(strangerAddress, 'BYE', { cseq: 6 })
    expect(onlyOf(ended).status).toBe(200)
    expect(held.told.at(-1)).toBe('ended')
  })

  it('does not challenge the phone at its place, nor a proxy of the operator', async () => {
    const held = await open()
    held.stage.peer.send('INFO', { cseq: 2 })
    await held.stage.soon()
    expect(held.stage.peer.starts.at(-1)).toBe('200')
    expect(onlyOf(await held.from(proxyAddress, 'BYE', { cseq: 3 })).status).toBe(200)
    expect([held.told.at(-1), held.notes]).toEqual(['ended', []])
  })

  it('challenges a request through a proxy of the operator that names another place than that of the phone', async () => {
    const held = await open()
    const before = [...held.told]
    const ofStranger = { headers: [{ name: 'X-Forwarded-For', value: `${peerAddress}, ${strangerAddress}` }] }
    expect(onlyOf(await held.from(proxyAddress, 'BYE', ofStranger)).status).toBe(401)
    expect(held.told).toEqual(before)
    expect(held.notes).toEqual([
      `BYE from ${strangerAddress} challenged: bob@a.example signals from elsewhere`,
    ])
    const ofPhone = { cseq: 3, headers: [{ name: 'X-Forwarded-For', value: peerAddress }] }
    expect(onlyOf(await held.from(proxyAddress, 'BYE', ofPhone)).status).toBe(200)
    expect(held.told.at(-1)).toBe('ended')
  })

  it('notes a stranger a few times, however often it tries', async () => {
    const held = await open()
    for (let last = 100; last < 130; last += 1) await held.from(`192.0.2.${last}`, 'BYE')
    expect(held.notes).toHaveLength(20)
  })
})

describe('a request from elsewhere that cannot be challenged', () => {
  it('as an ACK: its answer is ignored, and the 200 is repeated until the ACK of the phone arrives', async () => {
    const held = await userCalls({ isAcked: false })
    const { stage, told, notes, from } = held
    stage.invites[0]?.accept({ body: sdp }).listen(listenerOf(told))
    await stage.soon()
    await from(strangerAddress, 'ACK', { cseq: 1, body: sdp.content })
    expect(told).toEqual([])
    expect(notes).toEqual([`ACK from ${strangerAddress} ignored: bob@a.example signals from elsewhere`])
    stage.peer.send('ACK', { cseq: 1 })
    await stage.soon()
    expect(told).toEqual(['confirmed'])
  })

  it('as a CANCEL of the call: it finds no INVITE, and the CANCEL of the phone does', async () => {
    const { stage, told, notes, from } = await userCalls({ isAcked: false })
    const refused = onlyOf(await from(strangerAddress, 'CANCEL', { cseq: 1, branch: 'z9hG4bKinvite' }))
    expect(refused.status).toBe(481)
    expect(told).toEqual([])
    expect(notes).toEqual([`CANCEL from ${strangerAddress} ignored: bob@a.example signals from elsewhere`])
    stage.peer.send('CANCEL', { cseq: 1, branch: 'z9hG4bKinvite', toTag: '' })
    await stage.soon()
    expect(told).toEqual(['cancelled'])
  })
})

it('holds the early dialog too: a BYE from elsewhere does not end the ringing call', async () => {
  const { told, from } = await userCalls({ isAcked: false })
  expect(onlyOf(await from(strangerAddress, 'BYE')).status).toBe(401)
  expect(told).toEqual([])
})

it('leaves dialogs alone that belong to no user: carriers signal from several addresses', async () => {
  const stage = await openHeld()
  const told: string[] = []
  const dialog = await callOut(stage)
  dialog.listen(listenerOf(told))
  expect(onlyOf(await senderOf(stage)(strangerAddress, 'BYE')).status).toBe(200)
  expect(told).toEqual(['ended'])
})
