CREATE TABLE `disputes` (
	`id` text PRIMARY KEY NOT NULL,
	`order_id` text NOT NULL,
	`shop_id` text NOT NULL,
	`payment_id` text NOT NULL,
	`reference` text NOT NULL,
	`amount` integer NOT NULL,
	`currency` text NOT NULL,
	`status` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`payment_id`) REFERENCES `payments`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `disputes_reference` ON `disputes` (`payment_id`,`reference`);--> statement-breakpoint
CREATE INDEX `disputes_order` ON `disputes` (`order_id`,`id`);--> statement-breakpoint
CREATE TABLE `payment_messages` (
	`id` text PRIMARY KEY NOT NULL,
	`processor` text NOT NULL,
	`account_id` text NOT NULL,
	`shop_id` text,
	`message_id` text NOT NULL,
	`payment_id` text,
	`reference` text,
	`processor_references` text,
	`dispute` text,
	`attempts` integer NOT NULL,
	`resume_at` integer,
	`received_at` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `payment_messages_once` ON `payment_messages` (`processor`,`account_id`,`message_id`);--> statement-breakpoint
CREATE INDEX `payment_messages_resume` ON `payment_messages` (`resume_at`) WHERE resume_at is not null;--> statement-breakpoint
CREATE INDEX `payment_messages_received` ON `payment_messages` (`received_at`);--> statement-breakpoint
DROP INDEX `payments_reference`;--> statement-breakpoint
ALTER TABLE `payments` ADD `account_id` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `payments` ADD `mode` text DEFAULT 'TEST' NOT NULL;--> statement-breakpoint
ALTER TABLE `payments` ADD `processor_references` text DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE `payments` ADD `sent_at` integer;--> statement-breakpoint
ALTER TABLE `payments` ADD `asked_at` integer;--> statement-breakpoint
ALTER TABLE `payments` ADD `ended_at` integer;--> statement-breakpoint
ALTER TABLE `payments` ADD `ask_at` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `payments_named` ON `payments` (`processor`,`processor_reference`,`account_id`);--> statement-breakpoint
CREATE INDEX `payments_ask` ON `payments` (`ask_at`) WHERE ask_at is not null;--> statement-breakpoint
ALTER TABLE `refunds` ADD `claim_url` text;--> statement-breakpoint
ALTER TABLE `refunds` ADD `settled_reference` text;--> statement-breakpoint
CREATE INDEX `refunds_status` ON `refunds` (`shop_id`,`status`,`id`);