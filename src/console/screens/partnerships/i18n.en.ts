export default {
  subtitle: 'Shops that came by a partner, and the card processor that they begin with, unless they have chosen one themselves',
  none: 'No partnership yet. A partnership names shops, and the processor that takes their cards.',
  nr: 'Partnership {n}',
  processor: 'Card processor',
  add: 'Add a partnership',
  twice: 'A shop belongs to one partnership at most: {names}',
} as const
