export default {
  title: 'Drafts',
} as const
