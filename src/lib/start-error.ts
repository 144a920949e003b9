// A failure that stops the platform from starting and that an operator can repair: the message is one sentence that
// names the setting and the cure.
export class StartError extends Error {}
