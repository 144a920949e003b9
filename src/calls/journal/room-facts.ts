// Facts of a call that is in a room with others: what its journal says of that.

/** The caller waits until the conference begins. */
type WaitingFact = { readonly type: 'room-waiting'; readonly room: string }

/** It hears the others, and they hear it. `members`: how many are there, itself included. */
type JoinedFact = { readonly type: 'room-joined'; readonly room: string; readonly members: number }

type LeftFact = { readonly type: 'room-left'; readonly room: string; readonly because: string }

/** Neither heard nor hearing while it is held; heard by no one while it is muted. */
type ChangedFact = {
  readonly type: 'room-muted' | 'room-unmuted' | 'room-held' | 'room-resumed'
  readonly room: string
}

/** What the journal of a leg says of a room. */
export type RoomFact = WaitingFact | JoinedFact | LeftFact | ChangedFact
