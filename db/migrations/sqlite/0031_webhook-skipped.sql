ALTER TABLE `webhook_endpoints` ADD `skipped` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `webhook_endpoints` ADD `skipped_at` integer;