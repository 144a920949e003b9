import { describe, expect, it } from 'vitest'
import { chooseApplication } from './user-call.ts'

const sid = '0b5a9b0e-2c8b-4b0a-9d0a-5d2f4f0c7c11'
const device = '7d3a9b0e-2c8b-4b0a-9d0a-5d2f4f0c7c22'

const toApplication = (application_sid: string) => ({ kind: 'application', application_sid })
const refused = (code: string) => ({ kind: 'refused', code })

describe('chooseApplication', () => {
  it.each([
    ['a dialled application', `app-${sid}`, true, null, toApplication(sid)],
    ['a dialled application before the one of the account', `app-${sid}`, true, device, toApplication(sid)],
    ['upper case in a dialled application', `app-${sid.toUpperCase()}`, true, null, toApplication(sid)],
    ['a dialled application that is no sid', 'app-sales', true, device, refused('no_application')],
    ['a forbidden application with one of the account', `app-${sid}`, false, device, toApplication(device)],
    ['a forbidden application without one', `app-${sid}`, false, null, refused('direct_app_calling_off')],
    ['a number with one of the account', '+4420', true, device, toApplication(device)],
    ['a number without one', '+4420', true, null, refused('no_application')],
    ['a queue before the one of the account', 'queue-sales', true, device, { kind: 'queue', name: 'sales' }],
    ['a queue without one', 'queue-sales', true, null, { kind: 'queue', name: 'sales' }],
    ['a queue without a name', 'queue-', true, null, refused('no_application')],
    [
      'a conference before that of the account',
      'conference-x',
      true,
      device,
      { kind: 'conference', name: 'x' },
    ],
    ['a forbidden conference with one of the account', 'conference-x', false, device, toApplication(device)],
    ['a conference without one', 'conference-x', true, null, { kind: 'conference', name: 'x' }],
    ['a forbidden conference', 'conference-x', false, null, refused('direct_app_calling_off')],
    ['a conference without a name', 'conference-', true, null, refused('no_application')],
  ])('%s', (_, called, allow_direct_app_calling, device_calling_application_sid, target) => {
    expect(
      chooseApplication({
        called,
        allow_direct_app_calling,
        allow_direct_queue_calling: true,
        device_calling_application_sid,
        hook_application_sid: undefined,
        allow_direct_user_calling: true,
        isUserCalled: false,
      }).target,
    ).toEqual(target)
  })

  const call = {
    called: '+4420',
    allow_direct_app_calling: true,
    allow_direct_queue_calling: true,
    device_calling_application_sid: null,
    hook_application_sid: undefined,
    allow_direct_user_calling: true,
    isUserCalled: false,
  }

  it('takes the application that the registration hook named before all others', () => {
    const named = { ...call, called: `app-${sid}`, hook_application_sid: device }
    expect(chooseApplication(named).target).toEqual(toApplication(device))
  })

  it('takes a user who is registered, where nothing before decides and the caller may', () => {
    const bob = { ...call, called: 'bob', isUserCalled: true }
    expect(chooseApplication(bob).target).toEqual({ kind: 'user', name: 'bob' })
    expect(chooseApplication({ ...bob, allow_direct_user_calling: false }).target).toEqual(
      refused('no_application'),
    )
    expect(chooseApplication({ ...bob, called: 'conference-x' }).target).toMatchObject({ kind: 'conference' })
  })

  it('takes a registered user before the application of the account, which takes what the caller may not call', () => {
    const bob = { ...call, called: 'bob', isUserCalled: true, device_calling_application_sid: device }
    expect(chooseApplication(bob).target).toEqual({ kind: 'user', name: 'bob' })
    for (const other of [{ isUserCalled: false }, { allow_direct_user_calling: false }])
      expect(chooseApplication({ ...bob, ...other }).target).toEqual(toApplication(device))
    // A queue that a client may not dial is no name of a user.
    const queue = { ...bob, called: 'queue-sales', allow_direct_queue_calling: false }
    expect(chooseApplication(queue).target).toEqual(toApplication(device))
  })

  it('takes an application named in a header after a dialled one, and before all else', () => {
    const named = {
      ...call,
      named_application_sid: sid.toUpperCase(),
      device_calling_application_sid: device,
    }
    const route = { rule: 'user-named-application', target: toApplication(sid) }
    for (const called of ['+4420', 'queue-sales', 'conference-x', 'bob'])
      expect(chooseApplication({ ...named, called, isUserCalled: true })).toEqual(route)
    expect(chooseApplication({ ...named, called: `app-${device}` }).target).toEqual(toApplication(device))
    expect(chooseApplication({ ...named, named_application_sid: 'sales' })).toEqual({
      rule: 'user-named-application',
      target: refused('no_application'),
    })
  })

  it('ignores a header that names an application where the client may not dial applications', () => {
    const named = { ...call, named_application_sid: sid, allow_direct_app_calling: false }
    expect(chooseApplication({ ...named, called: 'bob', isUserCalled: true }).rule).toBe('user-dialled-user')
    expect(chooseApplication(named).rule).toBe('user-no-application')
  })

  it('takes a queue, where the caller may, before a user of that name', () => {
    const queue = { ...call, called: 'queue-sales', isUserCalled: true }
    expect(chooseApplication(queue).target).toEqual({ kind: 'queue', name: 'sales' })
    const forbidden = { ...queue, allow_direct_queue_calling: false }
    expect(chooseApplication(forbidden).target).toEqual(refused('direct_queue_calling_off'))
    expect(chooseApplication({ ...forbidden, device_calling_application_sid: device }).target).toEqual(
      toApplication(device),
    )
  })

  it('refuses a call to a user who is known and not registered by a rule of its own, where the caller may call users', () => {
    const bob = { ...call, called: 'bob', isClientCalled: true }
    const unavailable = { rule: 'user-not-registered', target: refused('user_unavailable') }
    expect(chooseApplication(bob)).toEqual(unavailable)
    expect(chooseApplication({ ...bob, allow_direct_user_calling: false }).rule).toBe('user-no-application')
    expect(chooseApplication({ ...bob, device_calling_application_sid: device }).rule).toBe(
      'user-device-application',
    )
  })

  it.each([
    ['user-dialled-user', { called: 'bob', isUserCalled: true }],
    ['user-hook-application', { hook_application_sid: sid }],
    ['user-dialled-application', { called: `app-${sid}` }],
    ['user-dialled-application', { called: 'app-sales' }],
    ['user-named-application', { named_application_sid: sid }],
    ['user-device-application', { device_calling_application_sid: device }],
    ['user-may-not-dial-applications', { called: `app-${sid}`, allow_direct_app_calling: false }],
    ['user-dialled-queue', { called: 'queue-sales' }],
    ['user-may-not-dial-queues', { called: 'queue-sales', allow_direct_queue_calling: false }],
    ['user-dialled-conference', { called: 'conference-x' }],
    ['user-may-not-dial-conferences', { called: 'conference-x', allow_direct_app_calling: false }],
    ['user-no-application', {}],
  ])('names the rule that decided: %s', (rule, more) => {
    expect(chooseApplication({ ...call, ...more }).rule).toBe(rule)
  })
})
