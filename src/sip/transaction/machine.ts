// The transaction machines of RFC 3261 §17 are tables; this reads them. No sockets, no timers, no side effects.

/** For each state, what each input leads to: the next state, then the actions in order. */
export type Machine<State extends string, Input extends string, Action extends string> = {
  readonly [S in State]: { readonly [I in Input]?: readonly [State, ...Action[]] }
}

export interface Step<State extends string, Action extends string> {
  readonly state: State
  readonly actions: readonly Action[]
}

/** Undefined when the state ignores the input. */
export function step<State extends string, Input extends string, Action extends string>(
  machine: Machine<State, Input, Action>,
  from: State,
  input: Input,
): Step<State, Action> | undefined {
  const entry: readonly [State, ...Action[]] | undefined = machine[from][input]
  if (entry === undefined) return undefined
  const [state, ...actions] = entry
  return { state, actions }
}

/** Whether a state waits for an input: a timer that the new state does not listen for is stopped on entering it. */
export function listensFor<State extends string, Input extends string, Action extends string>(
  machine: Machine<State, Input, Action>,
  state: State,
  input: Input,
): boolean {
  return machine[state][input] !== undefined
}
