// What keeps storage from starting and an operator can repair: the message says how.
export class StorageStartError extends Error {}
