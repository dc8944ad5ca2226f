ALTER TABLE "sessions" ADD COLUMN "last_used_at" bigint;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "address" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "agent" text COLLATE "C";