// The facts of a call that is in a room with others.

/** The caller waits until the conference begins. */
type WaitingFact = { readonly type: 'room-waiting'; readonly room: string }

/** The call has joined and hears the others. `members`: the number of members, itself included. */
type JoinedFact = { readonly type: 'room-joined'; readonly room: string; readonly members: number }

type LeftFact = { readonly type: 'room-left'; readonly room: string; readonly because: string }

/** A member is not heard while it is muted. While it is held, it neither hears nor is heard. */
type ChangedFact = {
  readonly type: 'room-muted' | 'room-unmuted' | 'room-held' | 'room-resumed'
  readonly room: string
}

/** The facts about a room in the journal of a leg. */
export type RoomFact = WaitingFact | JoinedFact | LeftFact | ChangedFact
