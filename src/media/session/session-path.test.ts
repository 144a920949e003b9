// The path of one session over its life: offers, answers, restarts, and far ends that continue without one.
import { describe, expect, it } from 'vitest'
import type { BrowserPaths, PathEvents } from '../browsers/browser-paths.ts'
import type { FarIce, FarSide, PathLoss } from '../browsers/messages.ts'
import { SessionPath } from './session-path.ts'

const fingerprint = { algorithm: 'sha-256', value: 'AA:BB' }
const ice: FarIce = {
  ufrag: 'abcd',
  pwd: 'p'.repeat(24),
  candidates: [
    { address: '203.0.113.9', port: 5000 },
    { address: '10.0.0.9', port: 5001 },
  ],
}
const browser: FarSide = { fingerprint, setup: 'actpass', ice }
const restarted: FarSide = { ...browser, renewsHandshake: true, ice: { ...ice, ufrag: 'wxyz' } }

interface Opened {
  readonly far: FarSide | undefined
  readonly events: PathEvents
  readonly answered: FarSide[]
  isClosed: boolean
}

/** `hold` delays the opening of a path. */
function createSession(hold: () => Promise<void> = async () => undefined) {
  const opened: Opened[] = []
  const losses: PathLoss[] = []
  let connected = 0
  const paths: Pick<BrowserPaths, 'open'> = {
    async open(far, events) {
      const one: Opened = { far, events, answered: [], isClosed: false }
      opened.push(one)
      const peer = opened.length
      await hold()
      return {
        peer,
        port: 45_000,
        gate: { port: 1, token: 't' },
        own: { ufrag: `own${peer}`, pwd: 'q'.repeat(24), fingerprint },
        accept: (answer) => void one.answered.push(answer),
        close: () => void (one.isClosed = true),
      }
    },
  }
  const path = new SessionPath({
    paths: paths as BrowserPaths,
    maySendTo: (address) => !address.startsWith('10.'),
    onConnected: () => (connected += 1),
    onLost: (loss) => losses.push(loss),
  })
  return { path, opened, losses, connected: () => connected }
}

const place = { address: '203.0.113.9', port: 5000 }

describe('the offer of a browser', () => {
  it('opens a path in the role that it leaves to us, and tries no place that may not be sent to', async () => {
    const { path, opened } = createSession()
    expect(await path.towards(browser)).toEqual({
      ufrag: 'own1',
      pwd: 'q'.repeat(24),
      fingerprint,
      setup: 'passive',
      port: 45_000,
      ice: 'alone',
    })
    expect(opened[0]?.far?.ice?.candidates).toEqual([place])
    expect(path.protection).toEqual({ form: 'browser', peer: 1, gate: { port: 1, token: 't' } })
    expect(path.place).toBeUndefined()
    expect((await createSession().path.towards({ ...browser, setup: 'passive' })).setup).toBe('active')
  })

  it('that restarts ICE with its former certificate is refused, and the former path stays', async () => {
    const { path, opened } = createSession()
    await path.towards(browser)
    opened[0]?.events.onConnected(place)
    const kept = { ...restarted, renewsHandshake: false }
    await expect(path.towards(kept)).rejects.toMatchObject({ code: 'ice_restart_unavailable' })
    expect(opened).toMatchObject([{ isClosed: false }])
    expect(path.place).toEqual(place)
    // Another certificate means another association for every far end.
    await path.towards({ ...kept, fingerprint: { algorithm: 'sha-256', value: 'CC:DD' } })
    expect(opened).toMatchObject([{ isClosed: true }, { isClosed: false }])
  })

  it('that repeats its credentials goes on over the path that is there', async () => {
    const { path, opened, connected } = createSession()
    const first = await path.towards(browser)
    opened[0]?.events.onConnected(place)
    expect(await path.towards({ ...browser, ice: { ...ice, candidates: [] } })).toEqual(first)
    expect(opened).toHaveLength(1)
    expect([path.place, connected()]).toEqual([place, 1])
  })

  it.each([
    ['another name', restarted],
    ['another password', { ...restarted, ice: { ...ice, pwd: 'r'.repeat(24) } }],
    ['another certificate', { ...browser, fingerprint: { ...fingerprint, value: 'CC:DD' } }],
  ])('with %s gets another path, and the former one is over, whatever is heard of it', async (_, next) => {
    const { path, opened, losses, connected } = createSession()
    await path.towards(browser)
    opened[0]?.events.onConnected(place)
    await path.towards(next)
    expect(opened.map(({ isClosed }) => isClosed)).toEqual([true, false])
    expect(path.place).toBeUndefined()
    opened[0]?.events.onLost('consent-lost')
    opened[0]?.events.onConnected({ ...place, port: 6000 })
    expect([losses, connected(), path.place]).toEqual([[], 1, undefined])
    opened[1]?.events.onLost('no-path')
    expect(losses).toEqual(['no-path'])
  })
})

describe('what is heard of a path before it is known here to be open', () => {
  it('counts: where its packets come from, and that it is lost', async () => {
    const { path, opened, losses, connected } = createSession(async () => {
      opened[0]?.events.onConnected(place)
      opened[0]?.events.onLost('closed')
    })
    await path.towards(browser)
    expect([path.place, connected(), losses]).toEqual([place, 1, ['closed']])
  })

  it('is ignored once the session is closed', async () => {
    const { path, opened, losses } = createSession(async () => {
      opened[0]?.events.onLost('closed')
      path.close()
    })
    await path.towards(browser)
    expect([opened[0]?.isClosed, losses]).toEqual([true, []])
  })
})

describe('our offer', () => {
  it('leaves the roles open, is repeated as it was, and takes one answer', async () => {
    const { path, opened } = createSession()
    const first = await path.own('alone')
    expect(first.setup).toBe('actpass')
    expect(await path.own('alone')).toEqual(first)
    path.accept({ ...browser, setup: 'active' })
    path.accept({ ...browser, setup: 'active' })
    expect(opened[0]?.answered.map((one) => one.ice?.candidates)).toEqual([[place]])
    expect((await path.own('alone')).setup).toBe('passive')
    expect(() => path.accept(restarted)).toThrow('two browsers answered one offer')
    expect(opened).toHaveLength(1)
  })

  it('to several browsers at the same time is of one path, which stays open for the one that answers', async () => {
    const held = Promise.withResolvers<void>()
    const { path, opened } = createSession(() => held.promise)
    const offers = [path.own('alone'), path.own('alone')]
    held.resolve()
    expect((await Promise.all(offers)).map(({ ufrag }) => ufrag)).toEqual(['own1', 'own1'])
    path.accept(browser)
    expect(opened).toMatchObject([{ isClosed: false, answered: [{ ice: { ufrag: ice.ufrag } }] }])
  })

  it('is made again where the path could not be opened', async () => {
    let tries = 0
    const { path } = createSession(async () => {
      tries += 1
      if (tries === 1) throw new Error('no process')
    })
    await expect(path.own('alone')).rejects.toThrow('no process')
    expect((await path.own('alone')).ufrag).toBe('own2')
  })

  it('that a phone answers without a path leaves none, and a browser that comes later gets one', async () => {
    const { path, opened } = createSession()
    await path.own('alone')
    path.accept(undefined)
    expect(opened[0]?.isClosed).toBe(true)
    expect(path.protection).toBeUndefined()
    await path.towards(browser)
    expect(opened[1]?.isClosed).toBe(false)
    expect(path.protection).toMatchObject({ peer: 2 })
  })
})

describe('a far end without ICE', () => {
  it('may answer where the offer has the port of the session, and is a far end between ports then', async () => {
    const { path, opened } = createSession()
    expect(await path.own('beside')).toMatchObject({ ice: 'beside' })
    path.accept({ ...browser, setup: 'active', ice: undefined })
    expect(opened[0]?.answered).toMatchObject([{ ice: undefined }])
    expect(path.isBetweenPorts).toBe(true)
  })

  it('is any far end that answers an offer without ICE, whatever its own SDP has of ICE, each time', async () => {
    const { path } = createSession()
    await path.own('none')
    for (const setup of ['active', 'active'] as const) path.accept({ ...browser, setup })
    expect(path.isBetweenPorts).toBe(true)
  })

  it('is not accepted as a browser', async () => {
    const { path } = createSession()
    await path.own('alone')
    expect(() => path.accept({ ...browser, ice: undefined })).toThrow('without ICE')
  })
})

describe('a far end that goes on without a path', () => {
  it('leaves the one that was there, of which nothing is heard any more', async () => {
    const { path, opened, losses } = createSession()
    await path.towards(browser)
    path.leave()
    opened[0]?.events.onLost('consent-lost')
    expect([opened[0]?.isClosed, path.protection, losses]).toEqual([true, undefined, []])
  })

  it('takes no answer to what was never offered', () => {
    const { path, opened } = createSession()
    path.accept(browser)
    expect([opened, path.protection]).toEqual([[], undefined])
  })
})

describe('a session that is closed', () => {
  it('closes its path, once', async () => {
    const { path, opened } = createSession()
    await path.towards(browser)
    path.close()
    path.close()
    expect([opened[0]?.isClosed, path.protection]).toEqual([true, undefined])
  })

  it('while its path is being opened leaves none behind', async () => {
    let release = (): void => undefined
    const { path, opened } = createSession(() => new Promise((resolve) => (release = resolve)))
    const opening = path.towards(browser)
    path.close()
    release()
    await opening
    expect([opened[0]?.isClosed, path.protection]).toEqual([true, undefined])
  })
})
