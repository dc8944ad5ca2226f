export default {
  subtitle: 'Shops referred by a partner, and the card processor they start with',
  none: 'No partnerships yet. A partnership sets the default card processor for a group of shops.',
  nr: 'Partnership {n}',
  processor: 'Card processor',
  add: 'Add partnership',
  twice: 'A shop can belong to only one partnership: {names}',
} as const
