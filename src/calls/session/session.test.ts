import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { Session } from './session.ts'
import type { RunningScript } from './running-script.ts'
import { causeOf, Stop, stopped } from './stop.ts'

const hook = (path: string) =>
  ({ url: `http://app.test${path}`, method: 'POST', username: null, password: null }) as const

describe('a leg that goes on by itself', () => {
  it('reports where it has reported until then, whatever the session that it left does', () => {
    const session = new Session(createFakeClock(), { hook: hook('/status') })
    const own = session.release()
    session.status.hook = hook('/other')
    expect(own.status.hook).toEqual(hook('/status'))
    own.status.hook = null
    expect(session.status.hook).toEqual(hook('/other'))
  })

  it('begins with the settings that it keeps, or with none', () => {
    const session = new Session(createFakeClock())
    session.settings.change({ kind: 'voice', voice: { language: 'de-DE' } })
    const own = session.release(session.settings.current)
    session.settings.change({ kind: 'reset-voice' })
    expect(own.settings.current.voice).toEqual({ language: 'de-DE' })
    expect(session.release().settings.current.voice).toEqual({})
  })
})

it('the verbs of a session run the leg that they were given, and no other', () => {
  const session = new Session(createFakeClock())
  const [first, second] = [{}, {}]
  const script = {} as RunningScript
  expect(session.scriptOf(first)).toBeUndefined()
  session.run(first, script)
  expect([session.scriptOf(first), session.scriptOf(second)]).toEqual([script, undefined])
})

describe('a stop', () => {
  it('has a cause, which its signals hand on', () => {
    const one = new AbortController()
    const both = AbortSignal.any([one.signal, new AbortController().signal])
    expect(causeOf(both)).toBeUndefined()
    one.abort(new Stop('replaced', 'a client sent others'))
    expect([causeOf(both), both.reason]).toEqual(['replaced', new Stop('replaced', 'a client sent others')])
  })

  it('of a signal that no session has is not known', () => {
    expect(causeOf(AbortSignal.abort())).toBeUndefined()
  })

  it('counts as aborted where others wait', () => {
    expect(stopped('leg-ended').name).toBe('AbortError')
  })
})
