import { describe, expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import { silentLogger } from '../../lib/log.ts'
import { buildRequest } from '../message/build.ts'
import type { SipRequest } from '../message/message.ts'
import type { Binding } from '../registrar/binding-store.ts'
import type { Remote } from '../transport/transports.ts'
import { DialogRoute, type DialogRouteOptions } from './dialog-route.ts'
import type { DialogState } from './dialog-state.ts'

const source: Remote = { transport: 'udp', address: '198.51.100.7', port: 40_000 }
const names: Readonly<Record<string, string>> = { 'pbx.example': '10.0.0.5', 'proxy.example': '203.0.113.9' }

/** Returns addresses as they are, and resolves the two known names. */
async function resolve(uri: string): Promise<Remote> {
  const [, host = '', port = '5060'] = /^sip:(?:[^@]*@)?([^:;>]+)(?::(\d+))?/.exec(uri) ?? []
  const address = /^[\d.]+$/.test(host) ? host : names[host]
  if (address === undefined) throw new AppError('sip_unreachable', 'no such name')
  return { transport: 'udp', address, port: Number(port) }
}

interface Setup extends Partial<Omit<DialogRouteOptions, 'state' | 'core'>> {
  readonly target?: string
  readonly routeSet?: readonly string[]
  readonly isBound?: (remote: Remote) => boolean
  readonly isOpen?: boolean
  /** The new place of a registered peer. */
  readonly again?: Remote
}

function routeOf(setup: Setup = {}) {
  const {
    target = 'sip:bob@203.0.113.20',
    routeSet = [],
    isBound = () => false,
    isOpen = true,
    again,
    ...rest
  } = setup
  const notes: string[] = []
  const state: DialogState = {
    callId: 'c',
    localTag: 'l',
    remoteTag: 'r',
    localUri: 'sip:a@a.example',
    remoteUri: 'sip:b@b.example',
    allowed: [],
    remoteTarget: target,
    routeSet,
    localSequence: 1,
    remoteSequence: undefined,
  } as unknown as DialogState
  const route = new DialogRoute({
    core: {
      resolve,
      phonesAt: (remote) => (isBound(remote) ? [{ remote } as Binding] : []),
      flowAgain: async () => again,
      isOpen: () => isOpen,
      log: silentLogger,
    },
    state,
    contact: {},
    flow: { source, isDirect: true, isOurs: false },
    keepsTransport: false,
    mayReach: undefined,
    noted: (sentence) => notes.push(sentence),
    ...rest,
  })
  return { route, notes }
}

const addressOf = async (route: DialogRoute): Promise<string> => (await route.find()).remote.address

describe('the requests of a dialog', () => {
  it('go to the Contact of the peer', async () => {
    const { route, notes } = routeOf()
    expect(await route.find()).toEqual({
      remote: { transport: 'udp', address: '203.0.113.20', port: 5060 },
      keepsTransport: false,
    })
    expect(notes).toEqual([])
  })

  it('go to the first Route, whatever the Contact says', async () => {
    const { route } = routeOf({ target: 'sip:bob@10.0.0.5', routeSet: ['<sip:proxy.example;lr>'] })
    expect(await addressOf(route)).toBe('203.0.113.9')
  })

  it('keep to datagrams where the URI names them', async () => {
    const { route } = routeOf({ target: 'sip:bob@203.0.113.20;transport=UDP' })
    expect((await route.find()).keepsTransport).toBe(true)
    expect((await routeOf({ keepsTransport: true }).route.find()).keepsTransport).toBe(true)
  })

  it.each([
    [
      'cannot be resolved',
      { target: 'sip:bob@nowhere.example' },
      'sip:bob@nowhere.example cannot be resolved',
    ],
    [
      'is a name of a network behind NAT',
      { target: 'sip:bob@pbx.example' },
      'sip:bob@pbx.example is behind NAT',
    ],
    [
      'may not be reached',
      { mayReach: ({ address }: Remote) => address !== '203.0.113.20' },
      'sip:bob@203.0.113.20 may not be reached',
    ],
  ])(
    'go to where its packets come from when the Contact %s, and that is noted once',
    async (_what, setup, fault) => {
      const { route, notes } = routeOf(setup)
      expect(await route.find()).toEqual({ remote: source, keepsTransport: true })
      await route.find()
      expect(notes).toEqual([
        `${fault}: requests of this dialog go to udp:198.51.100.7:40000, where its packets come from`,
      ])
    },
  )

  it('go to where its packets come from when the Contact is an address behind NAT, which is no fault', async () => {
    const { route, notes } = routeOf({ target: 'sip:bob@192.168.1.5' })
    expect(await addressOf(route)).toBe(source.address)
    expect(notes).toEqual([])
  })

  it('follow a peer that moves', async () => {
    const { route } = routeOf({ target: 'sip:bob@192.168.1.5' })
    route.follow(requestVia('SIP/2.0/UDP 192.168.1.5;branch=z9hG4bK1'), { ...source, port: 40_001 })
    expect((await route.find()).remote.port).toBe(40_001)
  })

  it('go to a registered phone by its flow, also once it has sent from there only', async () => {
    const isBound = ({ port }: Remote): boolean => port === 40_001
    const { route } = routeOf({ isBound })
    expect(await addressOf(route)).toBe('203.0.113.20')
    route.follow(requestVia('SIP/2.0/UDP 192.168.1.5;branch=z9hG4bK1'), { ...source, port: 40_001 })
    expect((await route.find()).remote).toEqual({ ...source, port: 40_001 })
  })

  it('go by the connection of the peer while it stands, and to its Contact once it is gone', async () => {
    const flow = { source: { ...source, transport: 'tcp' as const }, isDirect: true, isOurs: false }
    expect(await addressOf(routeOf({ flow }).route)).toBe(source.address)
    expect(await addressOf(routeOf({ flow, isOpen: false }).route)).toBe('203.0.113.20')
  })

  describe('to a browser whose WebSocket is gone', () => {
    const gone = { ...source, transport: 'wss' as const }
    const again = { ...gone, port: 40_002 }
    const common = { target: 'sip:x@y.invalid', isBound: () => true, isOpen: false, again }
    const found = async (setup: Setup): Promise<number> => (await routeOf(setup).route.find()).remote.port

    it('go by the WebSocket that it has registered over since', async () => {
      const flow = { source: gone, isDirect: true, isOurs: false }
      expect(await found({ ...common, flow })).toBe(again.port)
      expect(await found({ ...common, flow, isBound: () => false })).toBe(gone.port)
    })

    it('do not go to other phones behind the same proxy', async () => {
      expect(await found({ ...common, flow: { source: gone, isDirect: false, isOurs: false } })).toBe(
        gone.port,
      )
    })
  })

  it('go to the Contact when a proxy stands between', async () => {
    const { route } = routeOf({
      flow: { source, isDirect: false, isOurs: false },
      target: 'sip:bob@10.0.0.5',
    })
    expect(await addressOf(route)).toBe(source.address)
    const named = routeOf({ flow: { source, isDirect: false, isOurs: false } }).route
    expect(await addressOf(named)).toBe('203.0.113.20')
  })
})

function requestVia(via: string): SipRequest {
  return buildRequest({ method: 'INFO', uri: 'sip:a', headers: [{ name: 'via', value: via }] })
}
