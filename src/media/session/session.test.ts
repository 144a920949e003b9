// The messages of a session to its worker as offers come and go. The test stands in for the worker and the process of
// browsers.
import { describe, expect, it } from 'vitest'
import type { BrowserPaths } from '../browsers/browser-paths.ts'
import type { FarSide } from '../browsers/messages.ts'
import type { Agreement } from '../sdp/agreement.ts'
import { UnheardAddresses } from '../rtp/unheard-addresses.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { Session, type SessionOptions } from './session.ts'
import type { WorkerLink } from '../worker/worker-link.ts'
import { Wirings } from '../worker/wirings.ts'

const fingerprint = Array.from({ length: 32 }, () => 'AB').join(':')
const phone = ['m=audio 5004 RTP/AVP 0 101', 'a=rtpmap:101 telephone-event/8000']
const browser = [
  'm=audio 9 UDP/TLS/RTP/SAVPF 0',
  'a=rtcp-mux',
  'a=ice-ufrag:abcd',
  `a=ice-pwd:${'p'.repeat(24)}`,
  `a=fingerprint:sha-256 ${fingerprint}`,
  'a=setup:actpass',
]

function sdpOf(lines: readonly string[], address = '192.0.2.9'): string {
  return ['v=0', `o=- 1 1 IN IP4 ${address}`, 's=-', `c=IN IP4 ${address}`, 't=0 0', ...lines, ''].join(
    '\r\n',
  )
}

function createSession(options: Partial<SessionOptions> = {}) {
  const agreed: Agreement[] = []
  const paths: { readonly connect: () => void; readonly lose: () => void; isClosed: boolean }[] = []
  let closed = 0
  const link: Pick<WorkerLink, 'request'> = {
    request: async (request) => {
      const { kind, agreement }: { kind: string; agreement?: Agreement } = request
      if (agreement !== undefined) agreed.push(agreement)
      if (kind === 'close') throw new Error('the worker is gone')
      return undefined as never
    },
  }
  const browsers: Pick<BrowserPaths, 'open'> = {
    open: async (_far: FarSide | undefined, { onConnected, onLost }) => {
      const connect = (): void => onConnected({ address: '203.0.113.9', port: 6000 })
      const path = { connect, lose: () => onLost('no-path'), isClosed: false }
      paths.push(path)
      return {
        peer: paths.length,
        port: 45_000,
        gate: { port: 1, token: 't' },
        own: {
          ufrag: 'ours',
          pwd: 'q'.repeat(24),
          fingerprint: { algorithm: 'sha-256', value: fingerprint },
        },
        accept: () => undefined,
        close: () => void (path.isClosed = true),
      }
    },
  }
  const session = new Session({
    id: 's',
    port: 40_000,
    local: { general: '192.0.2.1', towards: () => '192.0.2.1', serves: (address) => !address.includes(':') },
    link: link as WorkerLink,
    wirings: new Wirings(),
    paths: browsers as BrowserPaths,
    maySendTo: (address) => !address.startsWith('10.'),
    onClosed: () => (closed += 1),
    ...options,
  })
  return { session, agreed, paths, closed: () => closed, last: () => agreed.at(-1) }
}

describe('sessions whose SDP names the same silent address', () => {
  it('begin with a packet a second once ten of them had a second at full rate, until one hears it', async () => {
    const unheard = new UnheardAddresses(createFakeClock())
    const begin = async () => {
      const one = createSession({ unheard, mustBeHeard: () => true })
      await one.session.answer(sdpOf(phone))
      // A re-INVITE takes no further second.
      await one.session.answer(sdpOf(phone))
      return one
    }
    const thin: (boolean | undefined)[] = []
    for (let count = 0; count < 12; count += 1) thin.push((await begin()).last()?.isThin)
    expect(thin).toEqual([...Array.from({ length: 10 }, () => false), true, true])
    const { session } = await begin()
    session.emit({ type: 'first-packet', address: '192.0.2.9', port: 5004, trust: 'sdp' })
    expect((await begin()).last()?.isThin).toBe(false)
  })
})

describe('a phone', () => {
  it('is sent to where its SDP says, and to no place that may not be sent to', async () => {
    const { session, last } = createSession()
    expect(await session.answer(sdpOf(phone))).toMatchObject({
      codec: 'PCMU',
      isHeld: false,
      encryption: undefined,
    })
    expect(last()).toMatchObject({
      remote: { address: '192.0.2.9', port: 5004 },
      protection: { form: 'plain' },
    })
    expect(session.place).toMatchObject({ address: '192.0.2.9' })
    await session.answer(sdpOf(phone, '10.0.0.9'))
    expect(last()).toMatchObject({
      remote: undefined,
      remoteRtcp: undefined,
      barred: { address: '10.0.0.9' },
    })
    // Nor is its place given to another far end.
    expect(session.place).toBeUndefined()
  })

  it('whose keys are sent in another way gets no events, and its tones are detected if it has no events', async () => {
    const { session, last } = createSession()
    session.goBy('tones')
    await session.answer(sdpOf(phone))
    expect(last()).toMatchObject({ hearsTones: true, send: { event: undefined } })
    const other = createSession()
    await other.session.answer(sdpOf(['m=audio 5004 RTP/AVP 0']))
    expect(other.last()?.hearsTones).toBe(true)
  })

  it('that sends past us is sent nothing until it comes back', async () => {
    const { session, last } = createSession()
    await session.answer(sdpOf(phone))
    await session.goPast(true)
    expect(last()).toMatchObject({ isPast: true, maySend: false })
    await session.goPast(false)
    expect(last()).toMatchObject({ maySend: true })
    expect(last()?.isPast).toBeUndefined()
  })
})

describe('a browser', () => {
  it('has no place until its handshake is complete, and then the place of the handshake', async () => {
    const { session, last, paths } = createSession()
    expect(await session.answer(sdpOf(browser))).toMatchObject({ encryption: 'DTLS-SRTP' })
    expect(last()).toMatchObject({
      remote: undefined,
      hasRtcpMux: true,
      protection: { form: 'browser', peer: 1 },
    })
    paths[0]?.connect()
    expect(last()).toMatchObject({ remote: { address: '203.0.113.9', port: 6000 } })
    expect(session.place).toBeUndefined()
  })

  it('that goes on as a phone leaves its path, and gets another one when it comes back', async () => {
    const { session, last, paths } = createSession()
    await session.answer(sdpOf(browser))
    paths[0]?.connect()
    expect(await session.answer(sdpOf(phone))).toMatchObject({ encryption: undefined })
    expect(paths[0]?.isClosed).toBe(true)
    expect(last()).toMatchObject({ remote: { address: '192.0.2.9' }, protection: { form: 'plain' } })
    expect(await session.answer(sdpOf(browser))).toMatchObject({ encryption: 'DTLS-SRTP' })
    expect([paths.length, paths[1]?.isClosed]).toEqual([2, false])
    expect(last()).toMatchObject({ protection: { form: 'browser', peer: 2 } })
  })

  it('gets the port of its path for its media, and the port of the session when it goes on as a phone', async () => {
    const { session } = createSession()
    const { sdp } = await session.answer(sdpOf(browser))
    expect(sdp).toContain('m=audio 45000 ')
    expect(session.port).toBe(45_000)
    await session.answer(sdpOf(phone))
    expect(session.port).toBe(40_000)
  })

  it.each([
    ['with ICE', browser, 45_000],
    ['without ICE', browser.filter((line) => !line.startsWith('a=ice')), 40_000],
  ])('that may answer either way gets the port of what it answers: %s', async (_, answer, port) => {
    const { session } = createSession()
    await session.offer({ dtls: 'ice' })
    await session.acceptAnswer(sdpOf(answer.map((line) => line.replace('actpass', 'active'))))
    expect(session.port).toBe(port)
  })

  it('keeps its path where a later offer of it is refused', async () => {
    const { session, last, paths } = createSession()
    await session.answer(sdpOf(browser))
    await expect(session.answer(sdpOf(browser.slice(0, 4)))).rejects.toMatchObject({
      code: 'media_not_acceptable',
    })
    expect(paths[0]?.isClosed).toBe(false)
    expect(last()).toMatchObject({ protection: { form: 'browser', peer: 1 } })
  })
})

describe('a phone that is heard before the answer, while other places ring', () => {
  const plain = ['m=audio 5004 RTP/AVP 0']
  const answering = (lines: readonly string[]): string =>
    sdpOf(lines.map((line) => line.replace('actpass', 'active')))
  const keyIn = (offer: string): string | undefined => /inline:(\S+)/.exec(offer)?.[1]

  async function heardEarly() {
    const created = createSession()
    const { session } = created
    session.face('192.0.2.50', 1)
    await session.offer({ dtls: 'browser' })
    session.face('192.0.2.51', 2)
    const keys = await session.offer({ sdes: 'required' })
    session.face('192.0.2.9', 3)
    await session.offer()
    await session.acceptAnswer(answering(plain), { isEarly: true })
    return { ...created, keys }
  }

  it('leaves the path of a browser open, which has it when it answers', async () => {
    const { session, last, paths } = await heardEarly()
    expect(paths).toMatchObject([{ isClosed: false }])
    expect([last()?.protection, last()?.remote?.address, session.port]).toEqual([
      { form: 'plain' },
      '192.0.2.9',
      40_000,
    ])
    session.face('192.0.2.50', 1)
    expect(await session.acceptAnswer(answering(browser))).toMatchObject({ encryption: 'DTLS-SRTP' })
    paths[0]?.connect()
    expect(paths).toMatchObject([{ isClosed: false }])
    expect(last()).toMatchObject({
      protection: { form: 'browser', peer: 1 },
      remote: { address: '203.0.113.9', port: 6000 },
    })
  })

  it.each<[string, (session: Session) => Promise<void>]>([
    ['with the same answer', async (session) => session.settle()],
    ['with another answer', async (session) => void (await session.acceptAnswer(answering(phone)))],
  ])('closes that path when it answers itself %s', async (_, answers) => {
    const { session, last, paths } = await heardEarly()
    await answers(session)
    expect(paths).toMatchObject([{ isClosed: true }])
    expect(last()?.protection).toEqual({ form: 'plain' })
    // Its stream goes on from here: a later offer repeats what is agreed.
    expect(await session.offer()).toMatch(/m=audio 40000 RTP\/AVP 0 (?!8 )/)
  })

  it('does not end the call where no browser answers in time', async () => {
    const { session, paths, last } = await heardEarly()
    const said: string[] = []
    session.onEvent(({ type }) => said.push(type))
    paths[0]?.lose()
    expect([said, last()?.protection]).toEqual([[], { form: 'plain' }])
  })

  it('changes no keys: a place that is tried later gets its own, and those that ring answer to theirs', async () => {
    const { session, keys, last } = await heardEarly()
    session.face('192.0.2.52', 4)
    const later = await session.offer({ sdes: 'required' })
    expect(later).toContain('m=audio 40000 RTP/SAVP 0 8 ')
    expect(keyIn(later)).not.toBe(keyIn(keys))
    session.face('192.0.2.51', 2)
    const crypto = `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${'A'.repeat(40)}`
    await session.acceptAnswer(sdpOf(['m=audio 5006 RTP/SAVP 0', crypto]))
    const protection = last()?.protection
    const sent = protection?.form === 'sdes' ? Buffer.from(protection.send.key).toString('base64') : ''
    expect(sent).toBe(keyIn(keys))
  })
})

describe('a session whose worker is gone', () => {
  it('reports it once, closes its path, and keeps its last figures', async () => {
    const { session, paths, closed } = createSession()
    const said: string[] = []
    session.onEvent(({ type }) => said.push(type))
    await session.answer(sdpOf(browser))
    session.lose()
    session.lose()
    expect([said, paths[0]?.isClosed, closed()]).toEqual([['lost'], true, 1])
    expect(await session.close()).toMatchObject({ packetsSent: 0, codec: 'PCMU' })
    expect(closed()).toBe(1)
  })

  it('is closed even if its loss was not noticed yet', async () => {
    const { session, paths, closed } = createSession()
    await session.answer(sdpOf(browser))
    expect(await session.close()).toMatchObject({ packetsSent: 0 })
    await session.close()
    expect([paths[0]?.isClosed, closed()]).toEqual([true, 1])
  })
})
