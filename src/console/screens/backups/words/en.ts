export default {
  title: 'Backups',
} as const
