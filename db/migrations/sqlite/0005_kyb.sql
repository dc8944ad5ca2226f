CREATE TABLE `kyb_events` (
	`id` text PRIMARY KEY NOT NULL,
	`record_id` text NOT NULL,
	`position` integer NOT NULL,
	`type` text NOT NULL,
	`at` integer NOT NULL,
	`actor` text NOT NULL,
	`reason` text,
	FOREIGN KEY (`record_id`) REFERENCES `kyb_records`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `kyb_events_position` ON `kyb_events` (`record_id`,`position`);--> statement-breakpoint
CREATE TABLE `kyb_records` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`status` text NOT NULL,
	`cohort` text NOT NULL,
	`legal_name` text NOT NULL,
	`registration_number` text NOT NULL,
	`country` text NOT NULL,
	`owners` text NOT NULL,
	`reason` text,
	`decided_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`version` integer NOT NULL,
	FOREIGN KEY (`merchant_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `kyb_records_live` ON `kyb_records` (`merchant_id`) WHERE status <> 'REJECTED';--> statement-breakpoint
CREATE INDEX `kyb_records_merchant` ON `kyb_records` (`merchant_id`,`id`);--> statement-breakpoint
CREATE INDEX `kyb_records_status` ON `kyb_records` (`status`,`id`);--> statement-breakpoint
ALTER TABLE `shops` ADD `verified_at` integer;--> statement-breakpoint
CREATE INDEX `shops_status` ON `shops` (`status`,`id`);