// The rules of a conference: a pure reducer, which has its members by their ids and uses neither legs nor a clock.
import type { Entry } from '../verb/conference-wishes.ts'

export interface Member extends Omit<Entry, 'startsIt' | 'maxMembers'> {
  readonly isHeld: boolean
}

export interface ConferenceState {
  readonly phase: 'waiting' | 'running' | 'over'
  /** In the order in which they entered. */
  readonly members: readonly Member[]
  readonly maxMembers: number | undefined
  /** True if all but moderators are muted, including those who enter later. */
  readonly mutesOthers: boolean
  /** True if the last moderator has left, and the time for another one runs. */
  readonly isInGrace: boolean
}

export type ConferenceInput =
  | { readonly type: 'enter'; readonly entry: Entry }
  | { readonly type: 'leave'; readonly id: string }
  | { readonly type: 'grace-over' }
  | { readonly type: 'mute'; readonly id: string; readonly isMuted: boolean }
  | { readonly type: 'mute-others'; readonly isMuted: boolean }
  | { readonly type: 'hold'; readonly id: string; readonly isHeld: boolean }
  | { readonly type: 'tag'; readonly id: string; readonly tag: string | undefined }
  | { readonly type: 'coach'; readonly id: string; readonly tag: string | undefined }

/** A consequence of an input. `members` is the number of members afterwards. */
export type ConferenceChange =
  | { readonly type: 'turned-away'; readonly id: string; readonly maxMembers: number }
  /** The call waits until the conference begins. */
  | { readonly type: 'waits'; readonly id: string }
  | { readonly type: 'started'; readonly by: string; readonly members: number }
  | { readonly type: 'joined'; readonly id: string; readonly members: number }
  /** `wasWaiting`: it was never in the conference. `isLetGo`: the conference has ended. */
  | {
      readonly type: 'left'
      readonly id: string
      readonly members: number
      readonly wasWaiting: boolean
      readonly isLetGo: boolean
    }
  | { readonly type: 'grace-began'; readonly graceMs: number }
  | { readonly type: 'grace-stopped' }
  /** `by` is the member that left last before the end. */
  | { readonly type: 'ended'; readonly by: string | undefined }

export interface Step {
  readonly state: ConferenceState
  readonly changes: readonly ConferenceChange[]
}

/** The sound that a member gets, and the members that hear it. */
export type Place =
  | { readonly at: 'waiting' }
  | {
      readonly at: 'room'
      readonly isHeld: boolean
      readonly isMuted: boolean
      /** Only these members hear it. */
      readonly onlyTo: readonly string[] | undefined
    }

/** The bound of every conference, so that tenants can share a machine: mixing for more takes most of a core. */
export const maxMembersOfAny = 500

export const emptyConference: ConferenceState = {
  phase: 'waiting',
  members: [],
  maxMembers: undefined,
  mutesOthers: false,
  isInGrace: false,
}

/** Applies an input. One that makes no sense, such as one about a member that has left, changes nothing. */
export function stepConference(state: ConferenceState, input: ConferenceInput): Step {
  if (state.phase === 'over') return { state, changes: [] }
  switch (input.type) {
    case 'enter':
      return enter(state, input.entry)
    case 'leave':
      return leave(state, input.id)
    case 'grace-over':
      return state.isInGrace ? end(state, undefined) : { state, changes: [] }
    case 'mute':
      return change(state, input.id, { isMuted: input.isMuted })
    case 'mute-others':
      return muteOthers(state, input.isMuted)
    case 'hold':
      return change(state, input.id, { isHeld: input.isHeld })
    case 'tag':
      return change(state, input.id, { tag: input.tag })
    case 'coach':
      return change(state, input.id, { coaches: input.tag })
    default:
      return input satisfies never
  }
}

/** Returns `waiting` for a member that is not there. */
export function placeOf({ phase, members }: ConferenceState, id: string): Place {
  const member = members.find((one) => one.id === id)
  if (phase !== 'running' || member === undefined) return { at: 'waiting' }
  const { isHeld, isMuted, coaches } = member
  const onlyTo =
    coaches === undefined ? undefined : members.filter(({ tag }) => tag === coaches).map((one) => one.id)
  return { at: 'room', isHeld, isMuted: isMuted || isHeld, onlyTo }
}

function enter(state: ConferenceState, entry: Entry): Step {
  const { id, startsIt, maxMembers: said, ...rest } = entry
  if (state.members.some((member) => member.id === id)) return { state, changes: [] }
  const ofRoom = state.maxMembers ?? said
  const maxMembers = Math.min(ofRoom ?? maxMembersOfAny, maxMembersOfAny)
  if (state.members.length >= maxMembers) return { state, changes: [{ type: 'turned-away', id, maxMembers }] }
  const isMuted = rest.isMuted || (state.mutesOthers && !rest.isModerator)
  const members = [...state.members, { id, ...rest, isMuted, isHeld: false }]
  const next = { ...state, members, maxMembers: ofRoom }
  if (state.phase === 'waiting')
    return startsIt ? start(next, id) : { state: next, changes: [{ type: 'waits', id }] }
  const joined = { type: 'joined', id, members: members.length } as const
  const isBack = state.isInGrace && rest.isModerator
  return {
    state: isBack ? { ...next, isInGrace: false } : next,
    changes: isBack ? [joined, { type: 'grace-stopped' }] : [joined],
  }
}

/** Starts the conference. The calls that have waited join it in the order in which they came. */
function start(state: ConferenceState, by: string): Step {
  const joined = state.members.map(({ id }, index) => ({ type: 'joined', id, members: index + 1 }) as const)
  return {
    state: { ...state, phase: 'running' },
    changes: [{ type: 'started', by, members: 0 }, ...joined],
  }
}

function leave(state: ConferenceState, id: string): Step {
  const member = state.members.find((one) => one.id === id)
  if (member === undefined) return { state, changes: [] }
  const members = state.members.filter((one) => one !== member)
  const wasWaiting = state.phase === 'waiting'
  const left = {
    type: 'left',
    id,
    members: wasWaiting ? 0 : members.length,
    wasWaiting,
    isLetGo: false,
  } as const
  const next = { ...state, members }
  if (wasWaiting) return { state: members.length === 0 ? { ...next, phase: 'over' } : next, changes: [left] }
  const wasLastModerator = member.isModerator && !members.some(({ isModerator }) => isModerator)
  const { graceMs } = member
  const isOver = members.length === 0 || (wasLastModerator && graceMs <= 0)
  const { state: after, changes } = isOver
    ? end(next, id)
    : wasLastModerator
      ? { state: { ...next, isInGrace: true }, changes: [{ type: 'grace-began', graceMs } as const] }
      : { state: next, changes: [] }
  return { state: after, changes: [left, ...changes] }
}

/** Ends the conference, and lets all remaining members go. */
function end(state: ConferenceState, by: string | undefined): Step {
  const left = state.members.map(
    ({ id }, index) =>
      ({
        type: 'left',
        id,
        members: state.members.length - index - 1,
        wasWaiting: false,
        isLetGo: true,
      }) as const,
  )
  const stopped = state.isInGrace ? ([{ type: 'grace-stopped' }] as const) : []
  return {
    state: { ...state, phase: 'over', members: [], isInGrace: false },
    changes: [...left, ...stopped, { type: 'ended', by }],
  }
}

function change(state: ConferenceState, id: string, changed: Partial<Member>): Step {
  const members = state.members.map((member) => (member.id === id ? { ...member, ...changed } : member))
  return { state: { ...state, members }, changes: [] }
}

function muteOthers(state: ConferenceState, isMuted: boolean): Step {
  const members = state.members.map((member) => (member.isModerator ? member : { ...member, isMuted }))
  return { state: { ...state, members, mutesOthers: isMuted }, changes: [] }
}
